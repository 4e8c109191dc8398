// Prints the first page that the site's search finds for each query: `node search.js HTML QUERY...`
const fs = require("fs");
const vm = require("vm");

const [html, ...queries] = process.argv.slice(2);
const page = { documentElement: { dataset: {} }, getElementById: () => ({}) };
const context = vm.createContext({ document: page, SPHINX_HIGHLIGHT_ENABLED: false, _ready() {}, _: (text) => text });
vm.runInContext("window = globalThis", context);
const files = ["_static/language_data.js", "_static/searchtools.js", "searchindex.js"];
const first = "(query) => Search._performSearch(...Search._parseQuery(query)).at(-1)?.[0]";
const code = files.map((file) => fs.readFileSync(`${html}/${file}`, "utf8")).join("\n");
vm.runInContext(`${code}\nfirst = ${first}`, context);
console.log(queries.map((query) => context.first(query)).join("\n"));
