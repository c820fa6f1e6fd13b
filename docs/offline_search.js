// Search in pages that are opened from a folder: there a browser starts no worker, so it runs in a hidden frame.
// The theme asks for a script of this kind, and would load it from the network.
class FrameWorker extends EventTarget {
  constructor(url) {
    super();
    this.frame = document.createElement("iframe");
    this.frame.hidden = true;
    document.body.appendChild(this.frame);
    const inner = this.frame.contentWindow;
    inner.postMessageToPage = (data) => {
      const event = new MessageEvent("message", { data });
      this.dispatchEvent(event);
      if (this.onmessage) this.onmessage(event);
    };
    inner.document.open();
    inner.document.write(
      "<html><body><script>" +
        "var postMessage = (data) => window.postMessageToPage(data);" +
        "var importScripts = (...urls) => urls.reduce((done, url) => done.then(() => new Promise((resolve) => {" +
        "const script = document.createElement('script'); script.src = url;" +
        "script.onload = resolve; document.body.appendChild(script); })), Promise.resolve());" +
        "</" + "script><script src=\"" + url + "\"></" + "script></body></html>",
    );
    inner.document.close();
  }
  postMessage(data) {
    this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data }));
  }
  terminate() {
    this.frame.remove();
  }
}
if (location.protocol === "file:") window.Worker = FrameWorker;
