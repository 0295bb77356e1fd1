// Draws the graph of a page with cytoscape. The tables of the page say the same; nothing here is needed to read it.
"use strict";
(() => {
  const STEP = 40, NEAR_MS = 150;
  const holders = [...document.querySelectorAll("[data-graph]")];

  // Cytoscape knows no oklch(): each colour of the style sheet is painted once and read back.
  const painter = Object.assign(document.createElement("canvas"), { width: 1, height: 1 }).getContext("2d", { willReadFrequently: true });
  function rgb(colour) {
    painter.clearRect(0, 0, 1, 1);
    painter.fillStyle = colour;
    painter.fillRect(0, 0, 1, 1);
    const [red, green, blue] = painter.getImageData(0, 0, 1, 1).data;
    return `rgb(${red}, ${green}, ${blue})`;
  }

  function colours(holder) {
    const probe = document.createElement("span");
    probe.hidden = true;
    holder.append(probe);
    const of = (name) => {
      probe.style.color = `var(--${name})`;
      return rgb(getComputedStyle(probe).color);
    };
    const words = ["decision", "preference", "problem", "solution", "technology", "pattern", "tool", "workflow", "other"];
    const found = Object.fromEntries(words.map((word) => [word, of(`entity-${word}`)]));
    for (const name of ["ink", "ink-2", "ink-3", "control", "well", "focus", "line-strong"]) found[name] = of(name);
    probe.remove();
    return found;
  }

  function style(colour) {
    return [
      { selector: "node", style: {
        shape: "data(form)", width: "data(size)", height: "data(size)", "background-color": (node) => colour[node.data("look")],
        label: "data(name)", color: colour.ink, "font-family": "IBM Plex Sans, system-ui, sans-serif", "font-size": "data(letters)",
        "text-valign": "bottom", "text-margin-y": 3, "text-wrap": "ellipsis", "text-max-width": (node) => 15 * (node.data("letters") || 11),
        "text-outline-color": colour.well, "text-outline-width": 2, "border-width": 1, "border-color": colour.well } },
      { selector: "node[name != '']", style: { "z-index": 5 } },
      { selector: "node.near", style: { "z-index": 9 } },
      { selector: "edge", style: {
        width: 1, "line-color": colour.control, "target-arrow-color": colour.control, "target-arrow-shape": "triangle", "arrow-scale": .7,
        "curve-style": "bezier", "line-style": "solid" } },
      { selector: 'edge[strength = "strong"]', style: { width: 1.5, "line-color": colour["ink-2"], "target-arrow-color": colour["ink-2"] } },
      { selector: 'edge[strength = "rejected"]', style: { "line-style": "dashed", "line-dash-pattern": [8, 4] } },
      { selector: 'edge[strength = "weak"]', style: { "line-style": "dotted" } },
      { selector: "edge.many", style: { opacity: .5 } },
      { selector: "edge.named, edge.chosen", style: {
        label: "data(label)", "font-size": (edge) => .8 * (edge.source().data("letters") || 11), color: colour["ink-2"], "text-rotation": "autorotate", "text-outline-color": colour.well, "text-outline-width": 2 } },
      { selector: ".dim", style: { opacity: .12 } },
      { selector: ".out", style: { display: "none" } },
      { selector: "node.centre", style: { "border-width": 3, "border-color": colour.ink } },
      { selector: "node.chosen", style: { "border-width": 4, "border-color": colour.focus, "z-index": 10 } },
      { selector: "edge.chosen", style: { width: 3, opacity: 1, "line-color": colour.focus, "target-arrow-color": colour.focus } },
      { selector: "core", style: { "active-bg-opacity": 0 } },
    ];
  }

  class Drawing {
    constructor(holder) {
      this.holder = holder;
      this.canvas = holder.querySelector("[data-graph-canvas]");
      this.tip = holder.querySelector("[data-graph-tip]");
      this.words = holder.querySelector("[data-graph-words]");
      this.url = holder.dataset.url;
      this.here = null;
      this.listen();
      this.fill();
      this.load();
    }

    // Legend and sizes belong to what the list shows, so the list brings them.
    fill() {
      document.querySelectorAll("#list template[data-graph-part]").forEach(({ content, dataset }) =>
        this.holder.querySelector(`[data-graph-slot="${dataset.graphPart}"]`)?.replaceChildren(content.cloneNode(true)));
    }

    async load() {
      const url = this.url;
      const answer = await fetch(url, { headers: { Accept: "application/json" } }).catch(() => null);
      if (url !== this.url) return;
      if (!answer?.ok) {
        this.words.textContent = "The picture cannot be loaded now.";
        return;
      }
      const told = await answer.json();
      if (url !== this.url) return;
      this.cy?.destroy();
      this.here = null;
      this.cy = window.cytoscape({
        container: this.canvas, elements: this.elements(told), style: style(colours(this.holder)), minZoom: .05, maxZoom: 4,
        boxSelectionEnabled: false, autounselectify: true, layout: this.layout(told),
      });
      this.centre = told.centre ?? "";
      if (this.centre) this.cy.getElementById(this.centre).addClass("centre");
      this.show();
      this.follow();
      this.holder.querySelector('[data-graph-do="all"]').hidden = true;
      this.find(this.holder.querySelector("[data-graph-find]").value);
      this.holder.dataset.drawn = String(told.nodes.length);
    }

    // Beginning on a spiral, the most connected in the middle, each drawing of the same graph comes out the same.
    elements(told) {
      const most = Math.sqrt(Math.max(1, ...told.nodes.map(({ degree }) => degree)));
      const size = (degree) => (told.nodes.length > 60 ? 1.7 : 1) * (14 + 34 * Math.min(1, Math.sqrt(degree) / Math.max(most, 6)));
      const turn = Math.PI * (3 - Math.sqrt(5)), spread = 60;
      const places = told.nodes.map((_, rank) => ({ x: spread * Math.sqrt(rank) * Math.cos(rank * turn), y: spread * Math.sqrt(rank) * Math.sin(rank * turn) }));
      return [
        ...told.nodes.map((data, rank) => ({ group: "nodes", data: { ...data, size: size(data.degree), rank, name: "", letters: 11 }, position: places[rank] })),
        ...told.edges.map((data) => ({ group: "edges", data, classes: told.edges.length > 200 ? "many" : "" })),
      ];
    }

    layout(told) {
      const number = told.nodes.length, dense = number > 60;
      return {
        name: "cose", animate: false, randomize: false, fit: false, nodeDimensionsIncludeLabels: !dense, numIter: number > 200 ? 250 : 700,
        idealEdgeLength: () => (dense ? 160 : 80), nodeRepulsion: () => (dense ? 900000 : 20000), nodeOverlap: 16, componentSpacing: 60, gravity: dense ? .12 : .6,
      };
    }

    show(elements) {
      this.cy.fit(elements, 36);
      if (this.cy.zoom() > 1.4) {
        this.cy.zoom(1.4);
        this.cy.center(elements);
      }
      this.letters();
    }

    // Names keep their size on the screen; where one would cover another, or a node, only the more connected has one.
    letters() {
      const letters = 11 / this.cy.zoom();
      const always = (node) => node.is(".chosen, .near, .centre");
      const box = (x, half, top, bottom) => ({ left: x - half, right: x + half, top, bottom });
      const shown = this.cy.nodes().filter((node) => node.visible()).sort((a, b) => always(b) - always(a) || a.data("rank") - b.data("rank"));
      const taken = shown.map((node) => {
        const { x, y } = node.position(), half = node.data("size") / 2;
        return box(x, half, y - half, y + half);
      });
      const covers = (one) => taken.some((other) => one.left < other.right && one.right > other.left && one.top < other.bottom && one.bottom > other.top);
      this.cy.batch(() => {
        this.cy.nodes().data({ letters, name: "" });
        shown.forEach((node) => {
          const { x, y } = node.position(), top = y + node.data("size") / 2 + .2 * letters;
          const place = box(x, Math.min(15, .56 * node.data("label").length) * letters / 2, top, top + 1.4 * letters);
          if (!always(node) && covers(place)) return;
          taken.push(place);
          node.data("name", node.data("label"));
        });
      });
    }

    follow() {
      const { cy } = this;
      cy.on("tap", "node", ({ target }) => { this.go(target); this.facts(target); });
      cy.on("tap", "edge", ({ target }) => { this.choose(target); this.facts(target); });
      cy.on("tap", ({ target }) => { if (target === cy) this.choose(null); });
      cy.on("dbltap", "node", ({ target }) => this.focus(target));
      cy.on("mouseover", "node, edge", ({ target, renderedPosition }) => this.hint(target, renderedPosition));
      cy.on("mouseout", "node, edge", () => { this.tip.hidden = true; });
      let waits = 0;
      cy.on("viewport", () => {
        this.tip.hidden = true;
        clearTimeout(waits);
        waits = setTimeout(() => { if (!cy.destroyed()) this.letters(); }, 60);
      });
    }

    hint(element, place) {
      const data = element.data();
      this.tip.textContent = element.isNode() ? `${data.title} · ${data.kind} · ${data.said}` : `${element.source().data("label")} — ${data.label} → ${element.target().data("label")}`;
      this.tip.hidden = false;
      this.tip.style.left = `${Math.max(4, Math.min(place.x + 12, this.canvas.clientWidth - this.tip.offsetWidth - 4))}px`;
      this.tip.style.top = `${Math.max(4, Math.min(place.y + 12, this.canvas.clientHeight - this.tip.offsetHeight - 4))}px`;
    }

    say(text) { document.querySelector("#said").textContent = text; }

    choose(element) {
      this.cy.elements(".chosen, .named, .near").removeClass("chosen named near");
      this.here = element?.isNode() ? element : null;
      element?.addClass("chosen");
      if (this.here && this.here.degree() <= 12) this.here.connectedEdges().addClass("named").connectedNodes().addClass("near");
      this.letters();
    }

    go(node) {
      this.choose(node);
      const data = node.data();
      this.say(`${data.title}, ${data.kind}, ${data.said}`);
      const { x1, y1, x2, y2 } = node.renderedBoundingBox({ includeLabels: false });
      if (x1 < 0 || y1 < 0 || x2 > this.canvas.clientWidth || y2 > this.canvas.clientHeight) this.cy.center(node);
    }

    facts(element) {
      window.htmx?.ajax("GET", element.data("url"), { target: "#picked", swap: "outerHTML" });
    }

    focus(node) {
      const near = node.closedNeighborhood();
      this.cy.elements().addClass("out");
      near.removeClass("out");
      this.cy.elements(".off").addClass("out");
      this.show(near);
      this.holder.querySelector('[data-graph-do="all"]').hidden = false;
      this.say(`Only ${node.data("title")} and its ${near.nodes().length - 1} neighbours`);
    }

    all() {
      this.cy.elements().removeClass("out");
      this.cy.elements(".off").addClass("out");
      this.show();
      this.holder.querySelector('[data-graph-do="all"]').hidden = true;
    }

    fit() { this.show(this.cy.elements(":visible")); }

    find(text) {
      const wanted = text.trim().toLocaleLowerCase();
      this.cy.batch(() => {
        this.cy.elements().removeClass("dim");
        if (!wanted) return;
        const found = this.cy.nodes().filter((node) => node.data("title").toLocaleLowerCase().includes(wanted));
        this.cy.elements().difference(found.union(found.edgesWith(found))).addClass("dim");
        this.say(`${found.length} in the picture match`);
      });
    }

    toggle(button) {
      const shown = button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", String(shown));
      const nodes = this.cy.nodes().filter((node) => node.data("type") === button.dataset.graphType);
      nodes[shown ? "removeClass" : "addClass"]("off out");
      if (this.here && !this.here.visible()) this.choose(null);
      this.letters();
    }

    // The nearest entity in the direction of an arrow: what lies straight ahead counts as nearer.
    nearest(dx, dy) {
      const nodes = this.cy.nodes(":visible");
      if (!this.here) return nodes.max((node) => node.data("degree")).ele;
      const from = this.here.position();
      let best = null, least = Infinity;
      nodes.forEach((node) => {
        if (node.same(this.here)) return;
        const at = node.position();
        const ahead = (at.x - from.x) * dx + (at.y - from.y) * dy;
        const aside = Math.abs((at.x - from.x) * dy - (at.y - from.y) * dx);
        const distance = ahead + 2 * aside;
        if (ahead > 0 && aside <= 2 * ahead && distance < least) [best, least] = [node, distance];
      });
      return best;
    }

    neighbour(step) {
      if (!this.here) return this.nearest(0, 0);
      const from = this.from && this.from.neighborhood("node").contains(this.here) ? this.from : this.here;
      const near = from.neighborhood("node:visible").sort((a, b) => b.data("degree") - a.data("degree"));
      if (!near.length) return null;
      this.from = from;
      const place = near.toArray().findIndex((node) => node.same(this.here));
      return near[(place + step + near.length) % near.length];
    }

    key(event) {
      if (!this.cy || event.ctrlKey || event.metaKey || event.altKey) return;
      const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
      const zoom = (by) => this.cy.zoom({ level: this.cy.zoom() * by, renderedPosition: { x: this.canvas.clientWidth / 2, y: this.canvas.clientHeight / 2 } });
      const keys = {
        Enter: () => this.here && this.facts(this.here),
        f: () => this.here && this.focus(this.here),
        n: () => { const next = this.neighbour(1); if (next) this.go(next); },
        p: () => { const next = this.neighbour(-1); if (next) this.go(next); },
        "+": () => zoom(1.25), "=": () => zoom(1.25), "-": () => zoom(.8), 0: () => this.fit(),
        Escape: () => { this.all(); this.choose(null); },
      };
      if (arrows[event.key]) {
        if (event.shiftKey) this.cy.panBy({ x: -STEP * arrows[event.key][0], y: -STEP * arrows[event.key][1] });
        else {
          this.from = null;
          const next = this.nearest(...arrows[event.key]);
          if (next?.length) this.go(next);
        }
      } else if (keys[event.key]) keys[event.key]();
      else return;
      event.preventDefault();
      event.stopPropagation();
    }

    listen() {
      this.canvas.addEventListener("keydown", (event) => this.key(event));
      let waits = 0;
      this.holder.querySelector("[data-graph-find]").addEventListener("input", ({ target }) => {
        clearTimeout(waits);
        waits = setTimeout(() => this.cy && this.find(target.value), NEAR_MS);
      });
      this.holder.addEventListener("click", ({ target }) => {
        const button = target.closest?.("[data-graph-do], [data-graph-type]");
        if (!button || !this.cy) return;
        if (button.dataset.graphDo) this[button.dataset.graphDo]();
        else this.toggle(button);
      });
      const restyle = () => this.cy?.style(style(colours(this.holder)));
      matchMedia("(prefers-color-scheme: dark)").addEventListener("change", restyle);
      new MutationObserver(restyle).observe(document.documentElement, { attributeFilter: ["data-theme"] });
      // A list that was filtered anew brings the picture of what it shows.
      document.addEventListener("htmx:afterSettle", () => {
        const list = document.querySelector("#list[data-picture]");
        if (!list || list.dataset.picture === this.url) return;
        this.url = list.dataset.picture;
        this.words.textContent = list.dataset.pictureWords;
        this.fill();
        this.load();
      });
    }
  }

  window.cytoscape?.warnings(false);
  if (window.cytoscape) holders.forEach((holder) => new Drawing(holder));
})();
