// The conformance table: the official suite, as caller of either era, against the fixture server directly and through
// mcpbx's /mcp, which has the fixture as a server of one era or both: over stdio, alone or beside five other servers, over
// Streamable HTTP, and over the HTTP+SSE of 2024-11-05. Every check that passes directly must pass through mcpbx, but for
// those that conformance/expected.json calls impossible.
//
// usage: conformance.mjs [--direct | --over stdio|http | --row WORDS] [--write] [--pin]
//   --direct     only the fixture itself
//   --over WAY   stdio: the fixture itself and the rows over stdio; http: the rows over either transport of HTTP
//   --row WORDS  only rows whose name has these words
//   --write      write the table to docs/interop.md; takes all rows
//   --pin        write what the direct run shows to conformance/expected.json
// MCPBX_BIN: the folder of the built programs
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { spawn } from 'node:child_process';
import { parseArgs } from 'node:util';
import { writePart } from './document.mjs';
import { Daemon, here, node, packagePath } from './lib.mjs';
import { expected, installed, judge, pin, run, write } from './conformance/suite.mjs';

const { values: options } = parseArgs({ options: {
  direct: { type: 'boolean' }, pin: { type: 'boolean' }, write: { type: 'boolean' }, over: { type: 'string', default: '' }, row: { type: 'string', default: '' } } });
if (options.write && (options.direct || options.over || options.row)) throw new Error('--write takes all rows');
if (!['', 'stdio', 'http'].includes(options.over)) throw new Error('--over takes stdio or http');
const fixture = path.join(here, 'conformance', 'fixture.mjs');
const revisions = { old: '2025-11-25', new: '2026-07-28' };
const files = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'mcpbx-crowd-')));
process.setMaxListeners(0);  // each program that is started ends with this one
process.on('exit', () => fs.rmSync(files, { recursive: true, force: true }));

const server = (file, ...args) => ({ command: node, args: [packagePath(file), ...args], toolNames: 'prefixed' });
// Five servers of three revisions whose names stay out of the fixture's way.
const crowd = {
  everything: server('@modelcontextprotocol/server-everything/dist/index.js'),
  files: server('@modelcontextprotocol/server-filesystem/dist/index.js', files),
  memory: { ...server('@modelcontextprotocol/server-memory/dist/index.js'), env: { MEMORY_FILE_PATH: path.join(files, 'memory.json') } },
  docs: server('@upstash/context7-mcp/dist/index.js'),
  github: server('@modelcontextprotocol/server-github/dist/index.js'),
};
// Each group has one daemon. Over HTTP two old ends are a way of their own: sessions, and streams that are taken up again.
const groups = [];
for (const [over, beside] of [['stdio', false], ['stdio', true], ['http', false]]) {
  groups.push({ over, era: 'both', callers: ['old', 'new'], beside }, { over, era: 'modern', callers: ['old'], beside });
  groups.push({ over, era: 'legacy', callers: over === 'http' ? ['old', 'new'] : ['new'], beside });
}
groups.push({ over: 'sse', era: 'legacy', callers: ['old', 'new'], beside: false });
const ends = (caller, era) => `${caller} caller, ${{ both: 'server of both eras', modern: 'new server', legacy: 'old server' }[era]}`;
const ways = { stdio: 'over stdio', http: 'over HTTP', sse: 'over HTTP+SSE' };
const title = (caller, { over, era, beside }) => `${ends(caller, era)} ${ways[over]}${beside ? ', five beside' : ''}`;

const rows = [];
const lines = [];
let faults = 0;
const fault = (words) => { faults++; lines.push(words); };

async function measure(name, url, caller, excused) {
  const started = Date.now();
  const row = { name, caller };
  rows.push(row);
  try {
    row.found = await run(url, revisions[caller]);
    Object.assign(row, judge(row.found, revisions[caller], excused));
    for (const loss of row.lost) fault(`LOST (${name}) ${loss.scenario} ${loss.check}: ${loss.why}`);
    for (const entry of row.stale) fault(`NOT IMPOSSIBLE (${name}) ${entry.scenario} ${entry.check} passes; take it out of expected.json`);
  } catch (error) {
    fault(`LOST (${name}) everything: ${error.message}`);
  }
  row.seconds = (Date.now() - started) / 1000;
  return row;
}
// The checks that cannot pass on a way, over whatever transport.
function excusedFor(caller, era) {
  const excused = {};
  for (const entry of expected.impossible)
    if (entry.caller === caller && entry.server === era)
      for (const scenario of [entry.scenario].flat()) excused[scenario] = entry.checks === 'all' ? true : [...(excused[scenario] ?? []), ...entry.checks];
  return excused;
}

// The fixture as a server of its own over HTTP: its address, and how to end it.
async function listening(era) {
  const child = spawn(node, [fixture, '--http', '0', '--era', era], { stdio: ['ignore', 'pipe', 'inherit'] });
  process.on('exit', () => child.kill('SIGKILL'));
  const url = await new Promise((ok, no) => {
    child.stdout.setEncoding('utf8').once('data', (words) => ok(words.trim()));
    child.once('exit', (code) => no(new Error(`the fixture ended with ${code}`)));
  });
  return { url, stop: () => child.kill() };
}
async function directly() {
  const { url, stop } = await listening('both');
  const both = await Promise.all(['old', 'new'].map((caller) => measure(`${caller} caller, directly`, url, caller, {})));
  stop();
  return both;
}
// The suite passes some checks where nobody listens; the judge must not.
async function nobody() {
  // A port of the system: one that was free a moment ago is soon that of another test's server.
  const url = 'http://127.0.0.1:2/mcp';
  for (const revision of Object.values(revisions)) {
    const { required, lost } = judge(await run(url, revision), revision);
    if (required.scenarios > 0 || lost.length < 30) fault(`BLIND: where nobody listens, ${required.scenarios} scenarios of ${revision} count as passed`);
  }
}
// Starts a daemon whose fixture is spoken to in the era of the group. A stdio server that is slow to start is taken for one
// of the old era, as the specification has it; on a busy machine that can be the fixture of both, which is then started again.
async function started({ era, beside }, entry) {
  for (let turn = 1; ; turn++) {
    const daemon = await Daemon.start({
      mcpServers: { fixture: entry, ...(beside ? crowd : {}) },
      toolNames: 'plain', http: { address: '127.0.0.1:0', auth: 'none' },
    });
    await daemon.ready(60);
    const { era: found, remote } = JSON.parse((await daemon.mcpbx('--json', 'servers')).stdout).find(({ name }) => name === 'fixture');
    if (entry.type && remote?.transport !== entry.type) throw new Error(`the fixture is spoken to over ${remote?.transport ?? 'stdio'}`);
    if ((found === 'legacy') === (era === 'legacy')) return daemon;
    if (turn === 3 || entry.url) throw new Error(`the fixture is taken for a server of the era ${found}`);
    await daemon.stop();
  }
}
// One start after the other: a crowd of five keeps the machine busy while it starts.
let turn = Promise.resolve();
function inTurn(start) {
  const mine = turn.then(start);
  turn = mine.catch(() => {});
  return mine;
}
async function through(group) {
  const names = new Map(group.callers.map((caller) => [caller, title(caller, group)]).filter(([, name]) => name.includes(options.row)));
  if (names.size === 0) return;
  let daemon, server;
  try {
    if (group.over !== 'stdio') server = await listening(group.era);
    daemon = await inTurn(() => started(group, {
      stdio: () => ({ command: node, args: [fixture, '--era', group.era] }),
      http: () => ({ type: 'streamable-http', url: server.url }),
      sse: () => ({ type: 'sse', url: new URL('/sse', server.url).href }),
    }[group.over]()));
    const { http } = JSON.parse((await daemon.mcpbx('--json', 'status')).stdout);
    for (const [caller, name] of names) await measure(name, `${http}/mcp`, caller, excusedFor(caller, group.era));
    await daemon.stop();
  } catch (error) {
    for (const name of names.values()) fault(`LOST (${name}) the daemon: ${error.message}`);
    daemon?.process.kill('SIGKILL');
  }
  server?.stop();
}

// The table, and why what cannot be is not in it.
function table() {
  const cell = (count, without = 'no result') => count ? `${count.scenarios}/${count.ofScenarios} (${count.checks}/${count.ofChecks})` : without;
  const direct = (caller) => rows.find((row) => row.name === `${caller} caller, directly`);
  const order = ['old caller, directly', 'new caller, directly', ...groups.flatMap((group) => group.callers.map((caller) => title(caller, group)))];
  const lines = ['| the suite as | required scenarios (checks) | directly | beside the required | directly | lost |', '|---|---|---|---|---|---|'];
  for (const row of rows.sort((a, b) => order.indexOf(a.name) - order.indexOf(b.name))) {
    const own = direct(row.caller);
    lines.push(`| ${row.name} | ${cell(row.required)} | ${cell(own?.required, '-')} | ${cell(row.extra)} | ${cell(own?.extra, '-')} | ${row.lost?.length ?? 'all'} |`);
  }
  if (expected.impossible.length > 0) lines.push('');
  for (const entry of expected.impossible)
    lines.push(`- Impossible for ${ends(entry.caller, entry.server)}: ${[entry.scenario].flat().join(', ')}${entry.checks === 'all' ? '' : ` (${entry.checks.join(', ')})`}. ${entry.reason}`);
  return lines;
}

if (expected.suite !== installed && !options.pin) fault(`the suite installed is ${installed}, the pinned results are of ${expected.suite}`);
if (options.pin) {
  const both = await directly();
  expected.suite = installed;
  for (const row of both) expected.revisions[revisions[row.caller]] = pin(row.found, revisions[row.caller]);
  write(expected);
  console.log('pinned; look at the difference');
  process.exit(0);
}
const wanted = options.direct ? [] : groups.filter(({ over }) => !options.over || (over === 'stdio') === (options.over === 'stdio'));
// Groups side by side do not meet, and the suite waits most of the time.
await Promise.all([...(options.over === 'http' ? [] : [directly(), nobody()]), ...wanted.map(through)]);
const written = table();
console.log(`\n${written.join('\n')}\n`);
console.log(rows.map((row) => `${row.name}: ${row.seconds.toFixed(1)} s`).join('; '));
if (options.write) writePart('conformance', written);
for (const line of lines) console.log(line);
console.log(faults === 0 ? 'ok: nothing is lost' : `FAILED: ${faults} faults`);
process.exit(faults === 0 ? 0 : 1);
