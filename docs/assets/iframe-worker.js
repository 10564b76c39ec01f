/* Browsers start no worker for a page that was opened from a folder. There the search runs in a hidden frame instead. */
if (location.protocol === "file:") {
  const prelude =
    "<script>" +
    "var postMessage = function (data) { setTimeout(outward, 0, data) };" +
    "var importScripts = function () { return Promise.all([].map.call(arguments, function (url) {" +
    "  return new Promise(function (done, failed) {" +
    "    var script = document.createElement('script');" +
    "    script.src = url; script.onload = done; script.onerror = failed;" +
    "    document.body.appendChild(script);" +
    "  });" +
    "})) };" +
    "</" + "script>";
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.waiting = [];
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.appendChild(this.frame);
      this.inside = this.frame.contentWindow;
      this.inside.outward = (data) => {
        const message = new MessageEvent("message", { data });
        this.dispatchEvent(message);
        if (this.onmessage) this.onmessage(message);
      };
      this.inside.document.open();
      this.inside.started = () => {
        this.ready = true;
        this.waiting.splice(0).forEach((data) => this.postMessage(data));
      };
      this.inside.document.write(
        "<body>" + prelude + "<script src='" + new URL(url, location.href) + "'></" + "script>" +
        "<script>started()</" + "script>"
      );
      this.inside.document.close();
    }
    postMessage(data) {
      if (this.ready) this.inside.dispatchEvent(new MessageEvent("message", { data }));
      else this.waiting.push(data);
    }
    terminate() {
      this.frame.remove();
    }
  };
}
