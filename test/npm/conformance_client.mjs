// The conformance table of the client role: the official suite's servers, which mcpbx reaches over HTTP and logs in to. Each
// scenario has a daemon of its own (conformance/client_adapter.mjs). conformance/expected_client.json has the checks that
// must pass, and those that cannot, with the reason.
//
// usage: conformance_client.mjs [--write] [--pin]      MCPBX_BIN: the folder of the built programs
//   --write   write the table to docs/interop.md
//   --pin     write what passes to conformance/expected_client.json
import path from 'node:path';
import { parseArgs } from 'node:util';
import { writePart } from './document.mjs';
import { here, node } from './lib.mjs';
import { expected, installed, judge, pin, run } from './conformance/client_suite.mjs';

const { values: options } = parseArgs({ options: { pin: { type: 'boolean' }, write: { type: 'boolean' } } });
const revisions = ['2025-11-25', '2026-07-28'];
const adapter = `${node} ${path.join(here, 'conformance', 'client_adapter.mjs')}`;
const lines = [];
const fault = (words) => lines.push(words);

if (expected.suite !== installed && !options.pin) fault(`the suite installed is ${installed}, the pinned results are of ${expected.suite}`);
const founds = {}, rows = [];
for (const revision of revisions) {
  const started = Date.now();
  const { found } = await run(adapter, ['--requirements', revision]);
  founds[revision] = found;
  const { required, extra, lost, stale } = judge(found, revision);
  for (const loss of lost) fault(`LOST (${revision}) ${loss.scenario} ${loss.check}: ${loss.why}`);
  for (const name of stale) fault(`NOT IMPOSSIBLE (${revision}) ${name} passes; take it out of expected_client.json`);
  const cell = (sum) => `${sum.scenarios}/${sum.ofScenarios} (${sum.checks}/${sum.ofChecks})`;
  rows.push(`| ${revision} | ${cell(required)} | ${cell(extra)} | ${lost.length} |`);
  console.log(`${revision}: ${((Date.now() - started) / 1000).toFixed(1)} s`);
}
if (options.pin) {
  pin(founds);
  console.log('pinned; look at the difference');
  process.exit(0);
}
// The loop is a client of the suite's servers as well.
for (const revision of revisions) {
  const { tools_call: ran } = (await run(adapter, ['--scenario', 'tools_call', '--spec-version', revision], { MCPBX_ADAPTER_RUN: '1' })).found;
  const missing = (expected.revisions[revision]?.tools_call ?? ['everything']).filter((check) => !ran?.passed.includes(check));
  if (missing.length > 0 || !ran.good) fault(`LOST (${revision}) tools_call by a model in a run: ${missing.join(', ')} ${JSON.stringify(ran?.failed)}`);
}
// A client that does nothing must lose every scenario; the suite itself is milder.
const idle = judge((await run('true', ['--requirements', revisions[1]])).found, revisions[1]);
if (idle.required.scenarios > 0) fault(`BLIND: ${idle.required.scenarios} scenarios count as passed by a client that does nothing`);

const table = ['| revision | required scenarios (distinct checks) | beside the required | lost |', '|---|---|---|---|', ...rows];
table.push('', '- The call of the scenario `tools_call` passes in both revisions too if a model makes it in a run.');
for (const entry of expected.impossible) table.push(`- Not passed: ${[entry.scenario].flat().map((name) => `\`${name}\``).join(', ')}. ${entry.reason}`);
console.log(`\n${table.join('\n')}\n`);
if (options.write) writePart('conformance-client', table);
for (const line of lines) console.log(line);
console.log(lines.length === 0 ? 'ok: nothing is lost' : `FAILED: ${lines.length} faults`);
process.exit(lines.length === 0 ? 0 : 1);
