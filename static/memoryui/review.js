// The review queue with a keyboard and with list and action side by side. Without this file every link and form works by itself.
"use strict";
(() => {
  const find = (selector, within = document) => within.querySelector(selector);
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const queue = find("[data-queue]");
  const wide = matchMedia("(min-width: 901px)");
  const isSplit = () => Boolean(find(".queue")) && wide.matches;
  const typing = (element) => element.matches("input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]");
  const say = (text) => { find("#said").textContent = text; };
  let lastPicked = null, armed = false, inFlight = false, goingSince = -Infinity;

  // The action beside its list: the same address as its page, of which only the part is taken.
  const rows = () => all(".queue-row");
  const current = () => find(".queue-row[aria-current]");

  function mark(pk) {
    rows().forEach((row) => row.dataset.row === pk ? row.setAttribute("aria-current", "true") : row.removeAttribute("aria-current"));
    current()?.scrollIntoView({ block: "nearest" });
  }

  async function open(address, { focus = false } = {}) {
    if (inFlight) return;
    inFlight = true;
    armed = false;
    try {
      await window.htmx.ajax("GET", address, { target: "#action", swap: "outerHTML" });
    } finally {
      inFlight = false;
    }
    const pk = find("#action")?.dataset.action;
    if (!pk) return;
    mark(pk);
    const here = new URL(location.href);
    if (here.searchParams.get("open") !== pk) {
      here.searchParams.delete("at");
      here.hash = "";
    }
    here.searchParams.set("open", pk);
    history.replaceState(history.state, "", here);
    const place = new URL(address, location.href).hash.slice(1);
    const wanted = place ? find(`#${CSS.escape(place)}`, find("#action")) : null;
    if (wanted) {
      wanted.scrollIntoView({ block: wanted.matches("section, .change") ? "start" : "center" });
      (wanted.matches("section") && focus ? find(".segments [aria-current]", wanted) : wanted)?.focus({ preventScroll: true });
    } else {
      find("#action").scrollTop = 0;
      if (focus) find("#action-title")?.focus({ preventScroll: true });
    }
    if (!wanted?.matches("textarea")) say(find("#action-title")?.textContent.trim() ?? "");
  }

  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("a[data-open], #action .segments a, #action a[data-open-part]");
    if (!link || !isSplit() || event.button || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    open(link.href, { focus: event.detail === 0 });
  });

  // Line numbers of a change are one stop of the Tab key; the arrows go from line to line, and Enter comments on one.
  function rove(table) {
    all("[data-line]", table).forEach((link, place) => { link.tabIndex = place ? -1 : 0; });
  }
  const roveAll = () => all(".change-rows").forEach(rove);
  document.addEventListener("focusin", ({ target }) => {
    if (!target.matches?.("[data-line]")) return;
    all("[data-line][tabindex='0']", target.closest(".change-rows")).forEach((link) => { link.tabIndex = -1; });
    target.tabIndex = 0;
  });
  document.addEventListener("keydown", (event) => {
    const here = event.target.closest?.("[data-line]");
    if (!here || event.ctrlKey || event.metaKey || event.altKey) return;
    const row = here.closest(".change-row"), column = [...row.children].indexOf(here.closest("[role=cell]"));
    const lines = all(".change-row", row.parentElement).filter((one) => find("[data-line]", one));
    const steps = { ArrowDown: lines[lines.indexOf(row) + 1], ArrowUp: lines[lines.indexOf(row) - 1], Home: lines[0], End: lines.at(-1) };
    const sides = { ArrowLeft: all("[data-line]", row)[0], ArrowRight: all("[data-line]", row).at(-1) };
    if (!(event.key in steps) && !(event.key in sides)) return;
    event.preventDefault();
    const next = steps[event.key];
    const link = sides[event.key] ?? (next && (find("[data-line]", next.children[column]) ?? find("[data-line]", next)));
    link?.focus();
    link?.scrollIntoView({ block: "nearest" });
  });

  // Rows that are selected, and how many that is.
  function count() {
    const form = find("[data-pick-form]");
    if (!form) return;
    form.dataset.scripted = "";
    const every = find("[data-every]", form)?.checked;
    const picked = all("[data-pick]:checked", form).length;
    const words = every ? "All that match are selected" : `${picked} row${picked === 1 ? "" : "s"} selected`;
    const place = find("[data-picked]", form);
    if (place && place.textContent !== words) place.textContent = words;
  }
  document.addEventListener("change", (event) => {
    if (event.target.matches?.("[data-pick], [data-every]")) count();
    if (event.target.matches?.("[data-pick]")) lastPicked = event.target;
  });
  document.addEventListener("htmx:afterSettle", ({ target }) => {
    if (target.id === "list") {
      count();
      mark(find("#action")?.dataset.action ?? "");
    }
    roveAll();
  });

  // The phrase of a bulk decision: the button waits for it.
  function phrase(field) {
    const button = find("button:not([type=button])", field.form);
    if (button) button.toggleAttribute("disabled", field.value.trim() !== field.dataset.phrase);
  }
  document.addEventListener("input", (event) => { if (event.target.matches?.("[data-phrase]")) phrase(event.target); });
  all("[data-phrase]").forEach(phrase);

  function step(by) {
    if (!find(".queue")) {
      const link = find(by > 0 ? "[data-next]" : "[data-previous]");
      if (link) location.assign(link.href);
      return;
    }
    const listed = rows();
    const place = listed.indexOf(current());
    const next = listed[place < 0 ? 0 : place + by];
    const link = next && find("[data-open]", next);
    if (!link) return say(by > 0 ? "This is the last one" : "This is the first one");
    if (isSplit()) open(link.href);
    else {
      mark(next.dataset.row);
      link.focus();
    }
  }

  function flash(button) {
    button.classList.add("pressed");
    setTimeout(() => button.classList.remove("pressed"), 150);
  }

  function pick(range) {
    const row = document.activeElement?.closest?.(".queue-row") ?? current();
    const box = row && find("[data-pick]", row);
    if (!box) return;
    const boxes = all("[data-pick]");
    if (range && lastPicked && boxes.includes(lastPicked)) {
      const [from, to] = [boxes.indexOf(lastPicked), boxes.indexOf(box)].sort((one, other) => one - other);
      boxes.slice(from, to + 1).forEach((one) => { one.checked = true; });
    } else {
      box.checked = !box.checked;
    }
    lastPicked = box;
    count();
  }

  function approve() {
    const button = find("[data-approve]");
    if (!button) return;
    if (button.disabled) return say(find("[data-why]")?.textContent ?? "It cannot be approved");
    flash(button);
    const password = find("#password");
    if (armed && document.activeElement === button) return button.click();
    armed = true;
    if (password && !password.value) password.focus();
    else button.focus();
    say("Press a again, or Enter, to approve");
  }

  function modes() {
    const links = all("#action .segments a");
    const place = links.findIndex((link) => link.hasAttribute("aria-current"));
    links[(place + 1) % links.length]?.click();
  }

  function hunk(by) {
    const heads = all("#action [data-hunk]");
    const place = heads.indexOf(document.activeElement);
    const next = heads[place < 0 ? (by > 0 ? 0 : heads.length - 1) : place + by];
    next?.focus();
    next?.scrollIntoView({ block: "start" });
  }

  function assignToMe() {
    const form = find("[data-assign]");
    const choice = form && find("select", form);
    if (!choice) return;
    choice.value = choice.dataset.me;
    form.requestSubmit();
  }

  function snooze() {
    const form = find("[data-snooze]");
    if (!form) return;
    find("select", form).value = "24";
    form.requestSubmit();
  }

  function reason() {
    const field = find("[data-reason]");
    field?.focus();
    say("Say why, then choose Reject");
  }

  function escape() {
    armed = false;
    const picked = all("[data-pick]:checked, [data-every]:checked");
    if (picked.length) {
      picked.forEach((box) => { box.checked = false; });
      return count();
    }
    if (find(".queue")) return find("[data-open]", current() ?? document)?.focus();
    const back = find("[data-back]");
    if (back) location.assign(back.href);
  }

  function edit() {
    const link = find("[data-edit]");
    if (link) location.assign(link.href);
    else say("It cannot be proposed otherwise");
  }

  // g, and within two seconds the letter of a section.
  const GOING_MS = 2000;
  function go() {
    goingSince = performance.now();
    say(`Go to: ${all("[data-go]").map((link) => `${link.dataset.go} ${link.textContent.trim()}`).join(", ")}`);
  }
  function goTo(letter) {
    const link = all("[data-go]").find((one) => one.dataset.go === letter);
    if (link) location.assign(link.href);
    else say("There is no such section");
  }

  const keys = {
    j: () => step(1), k: () => step(-1), x: () => pick(false), X: () => pick(true), a: approve, r: reason,
    c: () => find("#comment")?.focus(), e: edit, g: go, s: snooze, m: assignToMe, d: modes, "[": () => hunk(-1), "]": () => hunk(1),
    u: () => { const button = find("[data-withdraw]"); if (button) { flash(button); button.focus(); } },
    "?": () => find("#keys")?.togglePopover(), Escape: escape,
  };

  document.addEventListener("keydown", (event) => {
    if (!queue || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    const here = event.target;
    if (event.key === "Escape" && typing(here)) {
      here.blur();
      return;
    }
    if (typing(here) || here.closest?.("details.menu[open]")) return;
    // An open sheet closes on Escape by itself, and takes every other key but its own.
    if (find("[popover]:popover-open") && event.key !== "?") return;
    if (queue.hasAttribute("data-keys-off") && !["?", "Escape"].includes(event.key)) return;
    const going = performance.now() - goingSince < GOING_MS;
    goingSince = -Infinity;
    const act = going && event.key.length === 1 ? () => goTo(event.key) : keys[event.key];
    if (!act || inFlight) return;
    event.preventDefault();
    if (event.key !== "a") armed = false;
    act();
  });

  // Who looks is told again while the page is looked at, and not from a tab behind others.
  setInterval(() => {
    const form = find("[data-looks]");
    if (form && !document.hidden) window.htmx?.trigger(form, "still");
  }, 120000);

  let started = false;
  function start() {
    if (started || !queue || !window.htmx) return;
    started = true;
    count();
    roveAll();
    if (!isSplit()) return;
    const first = find("#action")?.dataset.openFirst ?? find(".queue-row [data-open]")?.href;
    if (first && !find("#action")?.dataset.action) open(`${first}${first.includes("#") ? "" : location.hash}`);
  }
  if (document.readyState === "loading") addEventListener("DOMContentLoaded", start);
  else start();
})();
