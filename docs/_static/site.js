// The frame of the landing page: it takes the theme of the site, and lies over its picture once it has been loaded.
(function () {
  "use strict";

  function themeOf(body) {
    var chosen = body.dataset.theme;
    return chosen === "light" || chosen === "dark" ? chosen : "auto";
  }

  function begin() {
    var frame = document.querySelector(".portrait iframe");
    if (!frame) return;
    var source = frame.getAttribute("src");

    function follow() {
      // Another part after # is no other page: the frame reads it and goes on. Nothing is added to the history.
      frame.contentWindow.location.replace(new URL(source, document.baseURI).href + "#theme=" + themeOf(document.body));
    }

    function shown() {
      frame.classList.add("is-there");
      follow();
    }

    frame.addEventListener("load", shown, { once: true });
    new MutationObserver(follow).observe(document.body, { attributes: true, attributeFilter: ["data-theme"] });
  }

  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", begin);
  else begin();
})();
