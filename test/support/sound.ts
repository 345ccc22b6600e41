// What a page plays. Used by tests in a browser.
/** Keeps the seconds of the recording that have been played in `heard`. */
export const recordSound = `
  window.heard = [];
  document.addEventListener("timeupdate", ({ target }) => heard.push(target.currentTime), true);`;
