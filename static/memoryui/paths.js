// Keys of the tree of paths, and levels that open without a new page. Without it every row and every opener is a plain link.
"use strict";
(() => {
  const tree = document.querySelector("[data-tree]");
  if (!tree) return;
  const rows = () => [...tree.querySelectorAll("tbody tr:has(.row-link)")];
  const shown = () => rows().filter((row) => !row.hidden);
  const link = (row) => row.querySelector(".row-link");
  const level = (row) => Number(row.getAttribute("aria-level"));
  const narrow = matchMedia("(max-width: 1100px)");

  // One row can be reached by Tab; the arrow keys go on from there.
  function rove(row) {
    for (const one of rows()) {
      link(one).tabIndex = one === row ? 0 : -1;
      const twist = one.querySelector("[data-twist]");
      if (twist) twist.tabIndex = -1;
    }
  }
  function go(row) {
    if (!row) return;
    rove(row);
    link(row).focus();
  }

  function below(row) {
    const found = [], own = level(row);
    for (let next = row.nextElementSibling; next && (!next.hasAttribute("aria-level") || level(next) > own); next = next.nextElementSibling) {
      if (!next.hasAttribute("aria-level")) break;
      found.push(next);
    }
    return found;
  }

  // The nearest row that branches off the same path.
  function sibling(row, others) {
    const end = others.findIndex((one) => level(one) < level(row));
    return (end < 0 ? others : others.slice(0, end)).find((one) => level(one) === level(row) && "pk" in one.dataset);
  }

  // A row is hidden while any row above it is closed.
  function refresh(row) {
    const closed = [];
    for (const one of [row, ...below(row)]) {
      while (closed.length && closed.at(-1) >= level(one)) closed.pop();
      if (one !== row) one.hidden = closed.length > 0;
      if (one.getAttribute("aria-expanded") === "false") closed.push(level(one));
    }
  }

  function drawDown(row) {
    const svg = row.querySelector(".gutter"), own = level(row) - 1;
    const open = row.getAttribute("aria-expanded") === "true";
    const down = svg.querySelector(`.lane[data-of="${own}"]`);
    if (!open) return down?.remove();
    if (down) return;
    const [, x] = svg.querySelector(".mark-at").getAttribute("transform").match(/translate\((\d+)/);
    const line = document.createElementNS("http://www.w3.org/2000/svg", "path");
    line.setAttribute("class", "lane");
    line.dataset.style = "plain";
    line.dataset.of = own;
    line.setAttribute("d", `M${x} 19V32`);
    svg.insertBefore(line, svg.querySelector(".mark-at"));
  }

  function toggle(row, open) {
    const twist = row.querySelector("[data-twist]");
    if (!twist || (row.getAttribute("aria-expanded") === "true") === open) return;
    row.setAttribute("aria-expanded", String(open));
    twist.querySelector(".sr").textContent = twist.querySelector(".sr").textContent.replace(/^\w+/, open ? "Close" : "Open");
    drawDown(row);
    if (open && !("loaded" in twist.dataset)) {
      twist.dataset.loaded = "";
      window.htmx.trigger(twist, "open-level");
    } else refresh(row);
    drawWay();
  }

  // The way to the open path: in a leading path's lane from its row down to the next leading one.
  function drawWay() {
    const all = rows(), current = all.find((row) => row.hasAttribute("aria-current"));
    for (const lane of tree.querySelectorAll(".lane[data-leads]")) delete lane.dataset.leads;
    if (!current) return;
    const mark = (row, of, form) => {
      for (const lane of row.querySelectorAll(`.lane[data-of="${of}"]`)) if (lane.getAttribute("d").includes("Q") === (form === "bent")) lane.dataset.leads = "";
    };
    let wanted = level(current);
    mark(current, wanted - 2, "bent");
    for (let place = all.indexOf(current) - 1; place >= 0 && wanted > 1; place--) {
      mark(all[place], wanted - 2, "straight");
      if (level(all[place]) >= wanted) continue;
      wanted = level(all[place]);
      mark(all[place], wanted - 2, "bent");
    }
  }

  function choose(row) {
    for (const one of rows()) one.removeAttribute("aria-current");
    row.setAttribute("aria-current", "true");
    drawWay();
  }

  document.addEventListener("click", (event) => {
    if (event.button || event.ctrlKey || event.metaKey || event.shiftKey || !window.htmx) return;
    const twist = event.target.closest?.("[data-twist]");
    if (twist && tree.contains(twist)) {
      event.preventDefault();
      const row = twist.closest("tr");
      rove(row);
      return toggle(row, row.getAttribute("aria-expanded") !== "true");
    }
    const title = event.target.closest?.("a.row-link[hx-trigger='open-path']");
    if (!title || !tree.contains(title) || new URL(title.href).pathname !== location.pathname) return;
    event.preventDefault();
    choose(title.closest("tr"));
    rove(title.closest("tr"));
    window.htmx.trigger(title, "open-path");
  });

  document.addEventListener("htmx:afterSettle", ({ target }) => {
    if (target.id === "path") {
      const heading = target.querySelector("h2");
      if (heading) document.querySelector("#said").textContent = heading.textContent.trim();
      if (narrow.matches) target.scrollIntoView({ block: "start" });
      return;
    }
    if (!tree.contains(target)) return;
    const at = tree.querySelector(".row-link[tabindex='0']");
    rove(at ? at.closest("tr") : shown()[0]);
    drawWay();
  });
  document.addEventListener("htmx:responseError", ({ target }) => { if (target.matches?.("[data-twist]")) delete target.dataset.loaded; });

  tree.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const row = event.target.closest("tr");
    if (!row || !row.hasAttribute("aria-level")) return;
    const all = shown(), at = all.indexOf(row), open = row.getAttribute("aria-expanded");
    const ahead = all.slice(at + 1), behind = all.slice(0, Math.max(0, at)).reverse();
    const steps = {
      ArrowDown: () => go(ahead[0]),
      ArrowUp: () => go(behind[0]),
      Home: () => go(all[0]),
      End: () => go(all.at(-1)),
      ArrowRight: () => (open === "false" ? toggle(row, true) : open === "true" && ahead[0] && level(ahead[0]) > level(row) && go(ahead[0])),
      ArrowLeft: () => (open === "true" ? toggle(row, false) : go(behind.find((one) => level(one) < level(row)))),
      "]": () => go(sibling(row, ahead)),
      "[": () => go(sibling(row, behind)),
      d: () => go(ahead.find((one) => "decides" in one.dataset)),
    };
    const step = steps[event.key];
    if (!step) return;
    event.preventDefault();
    step();
  });
  tree.addEventListener("focusin", ({ target }) => { const row = target.closest("tr"); if (row && target.matches(".row-link")) rove(row); });

  rove(rows().find((row) => row.hasAttribute("aria-current")) || rows()[0]);
})();
