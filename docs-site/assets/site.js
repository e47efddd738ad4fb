// Enhancements of pages. Every page also works without scripts. Requests go only to this server.
(() => {
  const root = document.documentElement;
  const kept = (name, value) => {
    try {
      if (value === undefined) return localStorage.getItem(name);
      localStorage.setItem(name, value);
    } catch {
      return null; // The browser may block storage.
    }
  };
  // The visitor's color scheme overrides that of the page, if the site permits a choice.
  const dress = () => {
    const chosen = kept("docs-theme");
    if (root.hasAttribute("data-choose") && (chosen === "light" || chosen === "dark")) root.dataset.theme = chosen;
  };
  dress();

  // Returns the anchor in a URL fragment. A malformed escape is taken literally.
  const anchor = (hash) => {
    try {
      return decodeURIComponent(hash.slice(1));
    } catch {
      return hash.slice(1);
    }
  };

  const element = (name, properties, ...children) => {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  };

  const theme = () => {
    const button = document.querySelector(".theme");
    if (!button) return;
    button.hidden = false;
    button.addEventListener("click", () => {
      const dark = root.dataset.theme === "system" ? matchMedia("(prefers-color-scheme: dark)").matches : root.dataset.theme === "dark";
      root.dataset.theme = dark ? "light" : "dark";
      kept("docs-theme", root.dataset.theme);
    });
  };

  const copy = () => {
    if (!navigator.clipboard) return;
    const { copy, copied } = document.body.dataset;
    for (const figure of document.querySelectorAll(".code")) {
      const button = element("button", { className: "copy", type: "button", textContent: copy });
      button.addEventListener("click", async () => {
        const lines = [...figure.querySelectorAll(".line")].map((line) => line.textContent.replace(/\n$/, ""));
        await navigator.clipboard.writeText(lines.join("\n"));
        button.textContent = copied;
        setTimeout(() => (button.textContent = copy), 1500);
      });
      figure.append(button);
    }
  };

  // Selecting a tab selects the tabs with the same title in all groups, on this page and later ones.
  const tabs = () => {
    const titled = (input) => input.nextElementSibling.textContent;
    const choices = [...document.querySelectorAll(".tab-choice")];
    const choose = (title) => choices.filter((input) => titled(input) === title).forEach((input) => (input.checked = true));
    const last = kept("docs-tab");
    if (last) choose(last);
    for (const input of choices) {
      input.addEventListener("change", () => {
        const before = input.getBoundingClientRect().top;
        choose(titled(input));
        scrollBy(0, input.getBoundingClientRect().top - before);
        kept("docs-tab", titled(input));
      });
    }
  };

  // Opens the tabs and expandable blocks that contain the target of the URL fragment.
  const reveal = () => {
    const target = location.hash && document.getElementById(anchor(location.hash));
    if (!target) return;
    for (let at = target; at; at = at.parentElement) {
      if (at.matches("details")) at.open = true;
      if (at.matches(".panel")) at.previousElementSibling.previousElementSibling.checked = true;
    }
    target.scrollIntoView();
  };

  const search = () => {
    const form = document.querySelector(".find");
    if (!form) return;
    const input = form.querySelector("input");
    const box = form.querySelector(".found");
    const { search, none } = document.body.dataset;
    let asked = 0;
    let timer;
    const show = (pages) => {
      box.replaceChildren(
        ...pages.map((page) =>
          element("a", { href: page.href }, element("b", { textContent: page.title }), element("span", { textContent: page.text || page.of || "" })),
        ),
      );
      if (!pages.length) box.append(element("p", { textContent: none }));
      box.hidden = false;
    };
    const ask = async () => {
      const query = input.value.trim();
      const turn = ++asked;
      if (query.length < 2) return void (box.hidden = true);
      try {
        const answer = await fetch(`${search}.json?q=${encodeURIComponent(query)}`);
        const pages = answer.ok && (await answer.json()).pages;
        if (pages && turn === asked) show(pages.slice(0, 8));
      } catch {
        if (turn === asked) box.hidden = true; // No response: submitting the form reports the error.
      }
    };
    input.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(ask, 150);
    });
    form.addEventListener("keydown", (event) => {
      const links = [...box.querySelectorAll("a")];
      const at = links.indexOf(document.activeElement);
      if (event.key === "Escape") box.hidden = true;
      else if (event.key === "ArrowDown" && links.length) (links[at + 1] || links[0]).focus();
      else if (event.key === "ArrowUp" && at >= 0) (links[at - 1] || input).focus();
      else return;
      event.preventDefault();
    });
    document.body.addEventListener("click", (event) => form.contains(event.target) || (box.hidden = true));
    document.body.addEventListener("keydown", (event) => {
      const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName);
      if ((event.key === "/" && !typing) || (event.key === "k" && (event.ctrlKey || event.metaKey))) {
        event.preventDefault();
        input.focus();
      }
    });
  };

  const outline = () => {
    const links = new Map([...document.querySelectorAll(".outline a")].map((link) => [anchor(link.hash), link]));
    if (!links.size) return;
    const seen = new IntersectionObserver(
      (entries) => {
        for (const entry of entries) {
          if (!entry.isIntersecting) continue;
          links.forEach((link) => link.classList.remove("on"));
          links.get(entry.target.id).classList.add("on");
        }
      },
      { rootMargin: "-64px 0px -70% 0px" },
    );
    links.forEach((_, id) => {
      const heading = document.getElementById(id);
      if (heading) seen.observe(heading);
    });
  };

  // Replaces the page by another one of the same site without reloading shared resources.
  const shown = (response) => response.ok && /^text\/html/.test(response.headers.get("content-type"));
  const sheets = (page) => [...page.querySelectorAll("link[rel=stylesheet]")].map((link) => link.getAttribute("href").split("/").pop()).join();
  let turn = 0;
  let path = location.pathname + location.search;
  const go = async (url, back) => {
    const now = ++turn;
    const leave = () => void (back ? location.reload() : (location.href = url));
    try {
      const response = await fetch(url, { headers: { accept: "text/html" } });
      if (now !== turn) return;
      if (!shown(response) || new URL(response.url).origin !== location.origin) return leave();
      const page = new DOMParser().parseFromString(await response.text(), "text/html");
      if (now !== turn) return;
      if (!page.body.dataset.site || sheets(page) !== sheets(document)) return leave();
      const scrolled = document.querySelector(".side .tree")?.scrollTop;
      if (!back) history.pushState(null, "", response.url + new URL(url).hash);
      path = location.pathname + location.search;
      for (const link of document.querySelectorAll("link[rel=canonical], link[rel=alternate], meta[name=description]")) link.remove();
      document.head.append(...page.querySelectorAll("link[rel=canonical], link[rel=alternate], meta[name=description]"));
      document.title = page.title;
      root.lang = page.documentElement.lang;
      root.toggleAttribute("data-choose", page.documentElement.hasAttribute("data-choose"));
      root.dataset.theme = page.documentElement.dataset.theme || "light";
      dress();
      document.body.replaceWith(document.adoptNode(page.body));
      start();
      const tree = document.querySelector(".side .tree");
      if (tree && scrolled) tree.scrollTop = scrolled;
      if (!location.hash) {
        if (!back) scrollTo(0, 0);
        document.querySelector("main")?.focus({ preventScroll: true });
      }
    } catch {
      leave();
    }
  };
  const navigation = () => {
    const base = new URL(document.body.dataset.site, location.href).pathname;
    document.body.addEventListener("click", (event) => {
      for (const menu of document.querySelectorAll("details.menu[open]")) if (!menu.contains(event.target)) menu.open = false;
      const link = event.target.closest("a[href]");
      const plain = !event.defaultPrevented && !event.button && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
      if (!link || !plain || link.target || link.hasAttribute("download") || link.origin !== location.origin) return;
      const inside = link.pathname.startsWith(base) && !/\.[a-z0-9]{1,5}$/i.test(link.pathname);
      if (!inside || (link.pathname === location.pathname && link.search === location.search)) return;
      event.preventDefault();
      go(link.href);
    });
  };

  const start = () => {
    [theme, copy, tabs, search, outline, navigation, reveal].forEach((enhance) => enhance());
    document.querySelector(".tree [aria-current]")?.scrollIntoView({ block: "nearest" });
  };
  addEventListener("DOMContentLoaded", start);
  addEventListener("hashchange", reveal);
  addEventListener("popstate", () => {
    const before = path;
    path = location.pathname + location.search;
    if (path !== before) go(location.href, true);
  });
})();
