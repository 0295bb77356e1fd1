// What the pages do beyond plain HTML and htmx. Everything here is a convenience: without it all pages work.
"use strict";
(() => {
  const root = document.documentElement;
  const find = (selector, within = document) => within.querySelector(selector);
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const typing = (element) => element.matches("input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]");

  function say(text) {
    find("#said").textContent = text;
  }

  function toast(text) {
    let place = find(".toasts");
    if (!place) {
      place = Object.assign(document.createElement("div"), { className: "toasts" });
      place.setAttribute("role", "status");
      document.body.append(place);
    }
    const note = Object.assign(document.createElement("p"), { className: "toast", textContent: text });
    place.append(note);
    const leave = () => (note.matches(":hover") ? setTimeout(leave, 1000) : note.remove());
    setTimeout(leave, 6000);
  }

  // Polling: 5 s while the person is active, 60 s while idle, not at all while the page is hidden.
  const ACTIVE_MS = 5_000, IDLE_MS = 60_000;
  let lastActive = performance.now(), lastPoll = lastActive;

  function poll() {
    lastPoll = performance.now();
    all("[data-polled]").forEach((element) => window.htmx.trigger(element, "poll"));
  }
  for (const type of ["pointermove", "pointerdown", "keydown", "scroll"]) {
    addEventListener(type, () => { lastActive = performance.now(); }, { passive: true, capture: true });
  }
  setInterval(() => {
    if (document.hidden || !window.htmx) return;
    const now = performance.now();
    if (now - lastPoll >= (now - lastActive < IDLE_MS ? ACTIVE_MS : IDLE_MS)) poll();
  }, 1_000);
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden && window.htmx && performance.now() - lastPoll >= ACTIVE_MS) poll();
  });

  function showVerdict(strip) {
    const icon = find("#favicon");
    icon.href = icon.href.replace(/favicon(-\w+)?\.svg/, `favicon-${strip.dataset.verdict}.svg`);
    const title = document.title.replace(/^\(\d+\) /, "");
    const count = Number(document.body.dataset.counts === "waiting" ? strip.dataset.waiting : strip.dataset.failing);
    document.title = count ? `(${count}) ${title}` : title;
  }

  // htmx: clean addresses, failing polls stay where they are, a swapped list keeps what is being typed and the open filter sheet.
  let typed = null, filtersOpen = false;

  document.addEventListener("htmx:configRequest", ({ detail }) => {
    if (detail.verb !== "get") return;
    for (const [name, value] of [...detail.formData.entries()]) if (value === "") detail.formData.delete(name);
  });
  // Typing asks after a pause, and Enter asks again for the same: one step back must leave the page, not repeat it.
  document.addEventListener("htmx:beforeHistoryUpdate", ({ detail }) => {
    if (new URL(detail.history.path, location.href).href === location.href) detail.history.type = "replace";
  });
  document.addEventListener("htmx:beforeSwap", ({ detail }) => {
    const source = detail.requestConfig?.elt;
    if (source?.matches("[data-polled]")) {
      const failed = detail.xhr.status >= 400;
      if (failed) detail.shouldSwap = false;
      find("[data-offline]", source)?.toggleAttribute("hidden", !failed);
    }
    if (detail.target?.id === "list") {
      const field = find("[data-find]");
      typed = field && field === document.activeElement ? field.value : null;
      filtersOpen = Boolean(find("#facets:popover-open"));
    }
  });
  document.addEventListener("htmx:sendError", ({ target }) => find("[data-offline]", target)?.removeAttribute("hidden"));
  document.addEventListener("htmx:afterSwap", () => {
    const strip = find("#status-strip");
    if (strip) showVerdict(strip);
  });
  document.addEventListener("htmx:afterSettle", ({ target }) => {
    if (target.id !== "list") return;
    const field = find("[data-find]");
    if (field && typed !== null && field.value !== typed) {
      field.value = typed;
      window.htmx.trigger(field, "input");
    }
    if (filtersOpen) find("#facets")?.showPopover();
    const found = find(".completeness", target);
    if (found) say(found.textContent.replace(/\s+/g, " ").trim());
  });

  // A form is sent once: its button says so until the answer is there.
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.method !== "post" || event.defaultPrevented) return;
    if (form.dataset.sent) return event.preventDefault();
    form.dataset.sent = "1";
    if (event.submitter) event.submitter.dataset.busy = "";
  });
  document.addEventListener("htmx:beforeRequest", ({ target }) => all("button", target.matches("form") ? target : document.createElement("i")).forEach((button) => { button.dataset.busy = ""; }));
  document.addEventListener("htmx:afterRequest", ({ target }) => all("[data-busy]", target).forEach((button) => { delete button.dataset.busy; }));
  addEventListener("pageshow", () => {
    all("form[data-sent]").forEach((form) => { delete form.dataset.sent; });
    all("[data-busy]").forEach((button) => { delete button.dataset.busy; });
  });

  // The theme changes at once; the cookie is set behind it.
  document.addEventListener("submit", async (event) => {
    const form = event.target;
    if (!form.matches("[data-theme-form]") || !event.submitter) return;
    event.preventDefault();
    const { name, value } = event.submitter;
    const body = new FormData(form);
    body.set(name, value);
    const answer = await fetch(form.action, { method: "POST", body, redirect: "manual" }).catch(() => null);
    if (!answer || (answer.type !== "opaqueredirect" && !answer.ok)) return form.submit();
    root.dataset.theme = value;
    all("button", form).forEach((button) => button.setAttribute("aria-pressed", String(button.value === value)));
    say(`Theme: ${value}`);
  }, { capture: true });

  // Where tabs do not fit, the present one is in sight.
  all(".tabs [aria-current]").forEach((tab) => tab.scrollIntoView({ block: "nearest", inline: "center" }));

  // Menus close on Escape, on a press elsewhere and when the focus leaves them.
  const closeMenus = (keep = null) => all("details.menu[open]").forEach((menu) => { if (!menu.contains(keep)) menu.open = false; });
  document.addEventListener("pointerdown", ({ target }) => closeMenus(target));
  document.addEventListener("focusin", ({ target }) => closeMenus(target));

  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    const here = event.target;
    if (event.key === "Escape") {
      const menu = here.closest?.("details.menu[open]");
      closeMenus();
      if (menu) find("summary", menu).focus();
      else if (here.matches?.("[data-search]")) here.blur();
    } else if (event.key === "/" && !typing(here) && !document.documentElement.hasAttribute("data-keys-off")) {
      const field = all("[data-search]").find((candidate) => candidate.checkVisibility?.() ?? true);
      if (!field) return;
      event.preventDefault();
      field.focus();
      field.select();
    } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && here.matches?.(".row-link")) {
      const links = all(".row-link", here.closest("table, ul, main"));
      const next = links[links.indexOf(here) + (event.key === "ArrowDown" ? 1 : -1)];
      if (!next) return;
      event.preventDefault();
      next.focus();
    }
  });

  // A press anywhere on a row follows its link, unless text was being selected.
  document.addEventListener("click", (event) => {
    const row = event.target.closest?.("tr");
    const link = row && find(".row-link", row);
    if (!link || event.button || event.target.closest("a, button, input, label, summary, select") || String(getSelection())) return;
    if (event.ctrlKey || event.metaKey) open(link.href, "_blank", "noopener");
    else link.click();
  });

  // Copying a fingerprint gives the whole digest.
  document.addEventListener("copy", (event) => {
    const node = getSelection()?.anchorNode;
    const holder = (node?.nodeType === Node.TEXT_NODE ? node.parentElement : node)?.closest?.("[data-copy]");
    if (!holder || !holder.contains(getSelection().focusNode)) return;
    event.preventDefault();
    event.clipboardData.setData("text/plain", holder.dataset.copy);
    toast(`Copied all ${holder.dataset.copy.length} digits`);
  });
})();
