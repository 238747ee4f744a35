// Do the published schema, the samples and the loader agree about what a configuration is? ajv judges each document of
// the corpus by the schema, conf_agree by the loader; every difference is printed, and ends this with status 1.
//
// usage: node conf_schema.mjs PATH_TO_conf_agree SCHEMA CORPUS [CONFIG…]
//   PATH_TO_conf_agree  the test tool of that name, from test/conf
//   SCHEMA              conf/mcpbx.schema.json
//   CORPUS              test/conf/corpus.jsonl: one JSON string per line, each of which holds a document without comments
//   CONFIG…             samples with comments (conf/samples/*.json): both must accept them
//
// Needs ajv 8. What only the loader can know is not in the corpus: names that must exist, keys that occur twice, the
// syntax of references, numbers that are compared with each other.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import Ajv2020 from "ajv/dist/2020.js";

const [tool, schemaPath, corpusPath, ...configs] = process.argv.slice(2);
if (!corpusPath) {
  console.error("usage: node conf_schema.mjs PATH_TO_conf_agree SCHEMA CORPUS [CONFIG...]");
  process.exit(2);
}

// The text without comments and trailing commas; strings are left alone.
function plainJson(text) {
  const uncommented = text.replace(/("(?:\\.|[^"\\])*")|\/\/[^\n]*|\/\*[^]*?\*\//g, (_, string) => string ?? " ");
  return uncommented.replace(/("(?:\\.|[^"\\])*")|,(?=\s*[}\]])/g, (_, string) => string ?? "");
}

const schema = JSON.parse(readFileSync(schemaPath, "utf8"));
const Ajv = Ajv2020.default ?? Ajv2020;
const ajv = new Ajv({ strict: true, strictTypes: false, strictRequired: false, allErrors: true });
if (!ajv.validateSchema(schema)) {
  console.error(`${schemaPath} is no valid JSON Schema: ${ajv.errorsText()}`);
  process.exit(1);
}
const accepts = ajv.compile(schema);

const texts = [
  ...readFileSync(corpusPath, "utf8").split("\n").filter(Boolean).map((line) => JSON.parse(line)),
  ...configs.map((path) => plainJson(readFileSync(path, "utf8"))),
];
const verdicts = execFileSync(tool, [corpusPath, ...configs], { encoding: "utf8" })
  .split("\n").filter(Boolean).map((line) => JSON.parse(line));

let wrong = 0, accepted = 0;
function complain(text) {
  wrong++;
  console.error(text);
}
if (verdicts.length !== texts.length) complain(`conf_agree judged ${verdicts.length} documents of ${texts.length}`);
texts.forEach((text, i) => {
  const bySchema = accepts(JSON.parse(text)), byLoader = verdicts[i]?.accepts;
  if (bySchema) accepted++;
  if (bySchema !== byLoader)
    complain(`the schema ${bySchema ? "accepts" : "refuses"}, the loader ${byLoader ? "accepts" : "refuses"}: ${text}\n` +
      `  ${bySchema ? verdicts[i]?.errors.join("\n  ") : ajv.errorsText(accepts.errors)}`);
  if (i >= texts.length - configs.length && !bySchema) complain(`a sample is refused: ${configs[i - (texts.length - configs.length)]}`);
});
if (accepted === 0 || accepted === texts.length) complain("the corpus needs documents of both kinds");
console.log(`conf_schema: ${texts.length} documents, ${accepted} accepted, ${wrong} differences`);
process.exit(wrong === 0 ? 0 : 1);
