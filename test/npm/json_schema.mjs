// Does our JSON Schema validator judge as ajv does? Schemas and values are made by a seeded generator that knows every
// keyword of 2020-12 that the two must agree about; each difference is printed, and ends this with status 1.
//
// usage: node json_schema.mjs [SEED [SCHEMAS]]      MCPBX_BIN: the folder of the built programs (schema_agree)
//
// Left out on purpose: fractions in multipleOf (ajv divides without tolerance), null bytes; $dynamicRef, of which
// ajv's support is partial; an empty name and one that starts with $, which ajv mishandles in places; `if` without `then`,
// whose annotations ajv drops. The official test suite covers those.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import Ajv2020 from 'ajv/dist/2020.js';

const seed = Number(process.argv[2] ?? 20201212), rounds = Number(process.argv[3] ?? 4000);
const bin = process.env.MCPBX_BIN;
if (!bin) { console.error('MCPBX_BIN names the folder of the built programs'); process.exit(2); }

// mulberry32: the same corpus for the same seed, everywhere.
let state = seed >>> 0;
function random() {
  state = (state + 0x6d2b79f5) >>> 0;
  let t = Math.imul(state ^ (state >>> 15), state | 1);
  t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
  return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
}
const below = (n) => Math.floor(random() * n);
const pick = (list) => list[below(list.length)];
const some = (list, most) => [...new Set(Array.from({ length: below(most + 1) }, () => pick(list)))];

const names = ['a', 'b', 'foo', 'bar', 'ä', 'x-y', 'a/b~c', '~1'];
const patterns = ['^a', 'o+$', '^[a-c]*$', '\\d{2,3}', '^(?!fo)', '\\p{L}', '^\\p{Lu}', '(a|b)+c?', '^.{1,3}$', '\\bx\\b', '[^\\w]', '^\\S*$', '^(?:fo|ba)(o|r)$'];
const texts = ['', 'a', 'b', 'foo', 'bar', 'ä', '🐲', 'abc', '12', '1234', 'x y', 'Éa', 'aac', 'fo'];
const numbers = [0, -1, 1, 2, 3, 0.5, 1.5, -2.5, 10, 1e3, 12345678901, 9007199254740991];

function value(depth = 3) {
  switch (below(depth > 0 ? 9 : 6)) {
    case 0: return null;
    case 1: return random() < 0.5;
    case 2: case 3: return pick(numbers);
    case 4: case 5: return pick(texts);
    case 6: return Array.from({ length: below(5) }, () => value(depth - 1));
    default: return Object.fromEntries(some(names, 4).map((n) => [n, value(depth - 1)]));
  }
}

// Inside a loop ajv keeps the state of contains and unevaluated* from one element to the next, so there they are left out.
let loops = 0;
function repeated(depth) {
  loops++;
  const made = schema(depth);
  loops--;
  return made;
}

function map(keys, make) { return Object.fromEntries(keys.map((k) => [k, make()])); }

const keywords = {
  type: () => pick(['string', 'number', 'integer', 'boolean', 'null', 'object', 'array', ['string', 'null'], ['integer', 'object'], ['array', 'object', 'number']]),
  const: () => value(2),
  enum: () => [...new Map(Array.from({ length: 1 + below(4) }, () => value(1)).map((v) => [JSON.stringify(v), v])).values()],
  minimum: () => pick(numbers), maximum: () => pick(numbers), exclusiveMinimum: () => pick(numbers), exclusiveMaximum: () => pick(numbers),
  multipleOf: () => pick([1, 2, 3, 0.5, 10]),
  minLength: () => below(4), maxLength: () => below(5), pattern: () => pick(patterns),
  minItems: () => below(3), maxItems: () => below(5), uniqueItems: () => random() < 0.8,
  minProperties: () => below(3), maxProperties: () => below(4),
  required: () => some(names, 2), dependentRequired: () => map(some(names, 2), () => some(names, 2)),
  properties: (d) => map(some(names, 4), () => schema(d)),
  patternProperties: (d) => map(some(patterns, 2), () => repeated(d)),
  additionalProperties: (d) => repeated(d), propertyNames: (d) => repeated(d),
  dependentSchemas: (d) => map(some(names, 2), () => schema(d)),
  prefixItems: (d) => Array.from({ length: 1 + below(3) }, () => repeated(d)),
  items: (d) => repeated(d), contains: (d) => repeated(d),
  allOf: (d) => Array.from({ length: 1 + below(2) }, () => schema(d)),
  anyOf: (d) => Array.from({ length: 1 + below(3) }, () => schema(d)),
  oneOf: (d) => Array.from({ length: 1 + below(3) }, () => schema(d)),
  not: (d) => schema(d), if: (d) => schema(d), then: (d) => schema(d), else: (d) => schema(d),
  $ref: () => pick(['#/$defs/one', '#/$defs/a~1b', '#two', '#/$defs/deep/properties/a']),
  unevaluatedItems: (d) => repeated(d), unevaluatedProperties: (d) => repeated(d),
};
const assertions = Object.keys(keywords).filter((k) => keywords[k].length === 0 && k !== '$ref');

function schema(depth) {
  if (random() < 0.12) return random() < 0.6;
  const made = {};
  const all = depth > 0 ? Object.keys(keywords) : assertions;
  const from = loops > 0 ? all.filter((k) => k !== 'contains' && !k.startsWith('unevaluated')) : all;
  for (let n = 1 + below(4); n > 0; n--) {
    const key = pick(from);
    made[key] = keywords[key](depth - 1);
  }
  if ('contains' in made && random() < 0.6) made.minContains = below(3);
  if ('contains' in made && random() < 0.3) made.maxContains = below(4);
  if ('if' in made) made.then ??= schema(depth - 1);
  return made;
}

// The definitions hold no references, so that nothing runs in circles.
function plain(depth) {
  const made = repeated(depth);
  return JSON.stringify(made).includes('"$ref":"#') ? plain(depth) : made;
}

function root() {
  const made = schema(3);
  if (typeof made === 'boolean') return made;
  return { ...made, $defs: { one: plain(1), 'a/b': plain(1), two: { ...Object(plain(0)), $anchor: 'two' }, deep: { properties: { a: plain(0) } } } };
}

// Combinations that ajv is known to judge against the standard: contains beside prefixItems, and annotations that pass
// through contains, a condition or a failed alternative.
function mistaken(text) {
  const has = (k) => text.includes(`"${k}":`);
  return (has('contains') && (has('prefixItems') || has('unevaluatedItems'))) || (text.includes('"unevaluated') && has('if')) ||
    (has('unevaluatedItems') && (has('anyOf') || has('oneOf')));
}

const ajv = new (Ajv2020.default ?? Ajv2020)({ strict: false, validateSchema: false, unicodeRegExp: true, logger: false });
const cases = [];
while (cases.length < rounds) {
  const s = root();
  if (mistaken(JSON.stringify(s))) continue;
  let judge;
  try { judge = ajv.compile(s); } catch { continue; }
  cases.push({ s, judge, values: Array.from({ length: 12 }, () => value()) });
}

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'mcpbx-schema-'));
const corpus = path.join(folder, 'corpus.jsonl');
fs.writeFileSync(corpus, cases.map((c) => JSON.stringify([c.s, ...c.values])).join('\n') + '\n');
const lines = execFileSync(path.join(bin, 'schema_agree'), [corpus], { encoding: 'utf8', maxBuffer: 256 << 20 }).split('\n').filter(Boolean).map((l) => JSON.parse(l));
fs.rmSync(folder, { recursive: true });

let differences = 0, fits = 0, judged = 0, broken = 0;
cases.forEach((c, i) => {
  if (!Array.isArray(lines[i])) { differences++; console.error(`not compiled: ${lines[i]}\n  ${JSON.stringify(c.s)}`); return; }
  c.values.forEach((v, k) => {
    let theirs;
    try { theirs = c.judge(v); } catch { broken++; return; }  // a fault in the code that ajv wrote
    const ours = lines[i][k] === '';
    judged++;
    if (theirs) fits++;
    if (theirs === ours) return;
    differences++;
    if (differences <= 10) console.error(`ajv ${theirs ? 'accepts' : 'refuses'}, we ${ours ? 'accept' : 'refuse'}: ${JSON.stringify(v)}\n  by ${JSON.stringify(c.s)}\n  ${ours ? ajv.errorsText(c.judge.errors) : lines[i][k]}`);
  });
});
if (broken > judged / 100) { differences++; console.error(`ajv broke down on ${broken} values`); }
if (fits < judged / 10 || fits > judged * 9 / 10) { differences++; console.error('the corpus needs values of both kinds'); }
console.log(`json_schema: ${cases.length} schemas, ${judged} values, ${fits} fit, ${differences} differences (seed ${seed})`);
process.exit(differences === 0 ? 0 : 1);
