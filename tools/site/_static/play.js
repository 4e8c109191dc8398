// Players of environments: you play with keys or buttons, or watch the trained agent. `play/ID.js` is loaded when a
// player starts, and adds itself to `envcore`.
window.envcore = {};

const KEYS = { arrowleft: "left", arrowright: "right", arrowup: "up", arrowdown: "down", " ": "space" };
const HELD = 300; // ms until a held key repeats, where nothing moves without a key
const REST = 700; // ms between the end of an episode and the next one

async function load({ id, file }) {
  await new Promise((onload, onerror) => document.head.append(make("script", "", { src: file, onload, onerror })));
  const [packed, create] = window.envcore[id];
  const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const unpacked = new Uint8Array(await new Response(stream).arrayBuffer());
  return create(btoa(Array.from(unpacked, (byte) => String.fromCharCode(byte)).join("")));
}

function make(tag, textContent, properties = {}) {
  return Object.assign(document.createElement(tag), { textContent, ...properties });
}

class Player {
  constructor(box) {
    this.box = box;
    this.about = JSON.parse(box.dataset.about);
    this.pressed = new Map(); // controls, in the order in which they were pressed
    const { id, controls, hasAgent } = this.about;
    const keys = controls.map(({ shown, name }) => `${shown}: ${name}`);
    const ariaLabel = [id, ...keys, "p: pause", "r: restart"].join(", ");
    this.canvas = make("canvas", "", { tabIndex: 0, role: "application", ariaLabel });
    this.canvas.onblur = () => this.pressed.clear();
    const button = (text, onclick, hidden) => make("button", text, { type: "button", onclick, hidden });
    const fail = ({ message }) => (this.notice.textContent = `This does not run: ${message ?? "a file is missing"}.`);
    const start = (mode) => () => this.start(mode).catch(fail);
    this.modes = {
      person: button("Play", start("person"), false),
      agent: button("Watch agent", start("agent"), !hasAgent),
    };
    this.others = [button("Pause", () => this.pause(), true), button("Restart", () => this.restart(), true)];
    this.actions = make("div", "", { role: "group", ariaLabel: "actions", hidden: true });
    this.actions.append(...controls.map((control) => this.actionButton(control)));
    [this.notice, this.facts] = [make("span", "", { role: "status" }), make("span", "")];
    box.append(...Object.values(this.modes), ...this.others, this.actions, this.notice, this.facts);
    box.onkeydown = (event) => this.onKey(event, true);
    box.onkeyup = (event) => this.onKey(event, false);
  }

  actionButton(control) {
    const label = [...new Set([control.shown, control.name])].join(" "); // a number has no other name
    const button = make("button", label, { type: "button" });
    button.onpointerdown = (event) => {
      event.preventDefault(); // the canvas keeps the focus
      button.setPointerCapture(event.pointerId);
      this.press(control);
    };
    button.onpointerup = button.onpointercancel = () => this.release(control);
    button.onclick = ({ detail }) => detail || (this.press(control), this.release(control)); // by Enter
    return button;
  }

  async start(mode) {
    this.env ??= await load(this.about);
    if (!this.mode) {
      this.box.previousElementSibling.remove(); // the picture
      this.box.prepend(this.canvas);
      requestAnimationFrame((now) => this.frame(now));
    }
    Object.assign(this, { mode, returns: [] });
    for (const [name, button] of Object.entries(this.modes)) button.ariaPressed = name === mode;
    this.actions.hidden = mode === "agent";
    for (const button of this.others) button.hidden = false;
    this.restart();
    this.canvas.focus({ preventScroll: true });
  }

  restart() {
    this.env.reset();
    this.pressed.clear();
    Object.assign(this, { steps: 0, return: 0, isOver: false, isWaiting: this.mode === "person", due: 0 });
    this.pause(false);
  }

  pause(isPaused = !this.isPaused) {
    this.isPaused = isPaused;
    this.others[0].textContent = isPaused ? "Continue" : "Pause";
    this.show();
  }

  onKey(event, isDown) {
    const key = KEYS[event.key.toLowerCase()] ?? event.key.toLowerCase();
    const control = this.about.controls.find(({ keys }) => keys.includes(key));
    const isMine = control ? event.target === this.canvas : this.mode && (key === "p" || key === "r");
    if (!isMine || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    if (!isDown) this.release(control);
    else if (event.repeat) return; // held keys repeat by themselves
    else if (control) this.press(control);
    else key === "p" ? this.pause() : this.restart();
  }

  press(control) {
    if (this.mode !== "person" || (this.isOver && performance.now() < this.due)) return;
    if (this.isOver) this.restart();
    this.isWaiting = false;
    this.pressed.delete(control);
    this.pressed.set(control, { since: performance.now(), isDown: true, isNew: true });
    this.show();
  }

  release(control) {
    const press = this.pressed.get(control);
    if (press?.isNew) press.isDown = false; // the next step still takes it
    else this.pressed.delete(control);
  }

  // The action of the keys: the newest one, or a component of a box for each; null where the environment waits for one.
  action(now) {
    const { idle } = this.about;
    const chosen = [...this.pressed].filter(([, press]) => press.isNew || idle !== null || now - press.since > HELD);
    for (const [control, press] of this.pressed) press.isDown ? (press.isNew = false) : this.pressed.delete(control);
    const actions = chosen.map(([{ action }]) => action);
    return Array.isArray(idle) ? Object.assign([...idle], Object.fromEntries(actions)) : actions.at(-1) ?? idle;
  }

  frame(now) {
    requestAnimationFrame((next) => this.frame(next));
    if (this.isPaused || this.isWaiting || now < this.due) return;
    if (this.isOver) return this.mode === "agent" && this.restart();
    const action = this.mode === "agent" ? this.env.act() : this.action(now);
    if (action === null) return;
    const interval = 1000 / this.about.fps;
    this.due = (now - this.due < interval ? this.due : now) + interval;
    const { reward, terminated, truncated } = this.env.step(action);
    [this.steps, this.return, this.isOver] = [this.steps + 1, this.return + reward, terminated || truncated];
    if (this.isOver) [this.due, this.returns] = [now + REST, [...this.returns, this.return].slice(-10)];
    this.show();
  }

  show() {
    this.env.draw(this.canvas);
    const mean = this.returns.reduce((sum, x) => sum + x, 0) / this.returns.length;
    const facts = [`step ${this.steps}`, `return ${+this.return.toFixed(2)}`];
    if (this.returns.length > 1) facts.push(`mean of the last ${this.returns.length} episodes ${+mean.toFixed(2)}`);
    this.facts.textContent = facts.join(" · ");
    const ask = this.mode === "person" ? "Press a key or button to start." : "";
    this.notice.textContent = this.isOver ? `Episode over. ${ask}` : this.isPaused ? "Paused." : this.isWaiting ? ask : "";
  }
}

for (const box of document.querySelectorAll(".player")) box.player = new Player(box);
