// An envcore environment as WebAssembly, written by envcore_native.web. Works without a server.
const TYPES = {
  bool: Uint8Array, int8: Int8Array, uint8: Uint8Array, int16: Int16Array, uint16: Uint16Array, int32: Int32Array,
  uint32: Uint32Array, float32: Float32Array, int64: BigInt64Array,
};

// Creates the environment. Call reset(seed) next, then step(action).
export async function create() {
  const bytes = Uint8Array.from(atob(MODULE), (letter) => letter.charCodeAt(0));
  const { instance } = await WebAssembly.instantiate(bytes, { Math, js: { fmod: (a, b) => a % b } });
  return new Environment(instance.exports);
}

class Environment {
  constructor(exports) {
    this.exports = exports;
    this.name = ABOUT.name;
  }

  // Returns the array of this name, such as "state.time" or "obs". It is a view, which the next step overwrites.
  array(name) {
    const [place, type, length] = ABOUT.arrays[name];
    return new TYPES[type](this.exports.memory.buffer, this.exports.address(place), length);
  }

  get names() {
    return Object.keys(ABOUT.arrays);
  }

  get obs() {
    return this.array("obs");
  }

  // Starts an episode with jax.random.key(seed), and returns the observation.
  reset(seed = Math.floor(Math.random() * 2 ** 32)) {
    this.exports.reset(seed >>> 0);
    this.hasBegun = true;
    return this.obs;
  }

  // Steps with an action, which is a number or an array of numbers. Call reset() when the episode has ended.
  step(action) {
    const staged = this.array("action");
    const values = typeof action === "number" ? [action] : Array.from(action);
    if (!this.hasBegun) throw new Error("call reset() first");
    if (values.length !== staged.length) throw new RangeError(`${action} is not ${staged.length} numbers`);
    values.forEach((value, i) => (staged[i] = staged instanceof BigInt64Array ? BigInt(value) : value));
    if (this.exports.step() < 0) throw new RangeError(`${action} is not an action of ${this.name}`);
    const [reward, terminated, truncated] = ["reward", "terminated", "truncated"].map((name) => this.array(name)[0]);
    return { obs: this.obs, reward, terminated: !!terminated, truncated: !!truncated };
  }

  // Returns the policy's action, if the module has a policy.
  act() {
    this.exports.act();
    const action = Array.from(this.array("chosen"));
    return action.length === 1 && ABOUT.isOneNumber ? action[0] : action;
  }

  // Renders the state as an RGB image, three bytes per pixel.
  render() {
    this.exports.render();
    return { width: ABOUT.width, height: ABOUT.height, data: this.array("picture") };
  }

  draw(canvas) {
    const { width, height, data } = this.render();
    [canvas.width, canvas.height] = [width, height];
    const image = new ImageData(width, height);
    for (let i = 0, j = 0; i < data.length; j += 4) {
      image.data[j] = data[i++];
      image.data[j + 1] = data[i++];
      image.data[j + 2] = data[i++];
      image.data[j + 3] = 255;
    }
    canvas.getContext("2d").putImageData(image, 0, 0);
  }
}
