// Runs the official conformance suite against an address, and compares what it says with what is pinned.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

const here = path.dirname(fileURLToPath(import.meta.url));
const suite = path.join(here, '..', 'node_modules', '@modelcontextprotocol', 'conformance');
export const expected = JSON.parse(fs.readFileSync(path.join(here, 'expected.json'), 'utf8'));
// The suite that is installed must be the one whose scenarios are pinned.
export const installed = JSON.parse(fs.readFileSync(path.join(suite, 'package.json'), 'utf8')).version;

// The server scenarios of a revision: those that count, and those that the suite runs beside them.
export function scenariosOf(revision) {
  const list = parse(fs.readFileSync(path.join(suite, 'requirements', `${revision}.yaml`), 'utf8'));
  return { required: list.server, extra: list.not_scored.filter((entry) => entry.leg === 'server').map((entry) => entry.scenario) };
}

// Runs all scenarios of a revision. Resolves with, for each scenario, how often each check passed, and what failed.
export async function run(url, revision) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'mcpbx-suite-'));
  const child = spawn(process.execPath, [path.join(suite, 'dist', 'index.js'), 'server', '--url', url, '--requirements', revision,
    '--timeout', '30000', '-o', path.join(folder, 'out')], { stdio: ['ignore', 'pipe', 'pipe'] });
  const hung = setTimeout(() => child.kill('SIGKILL'), 150_000);
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (words) => { said = (said + words).slice(-4000); });
  const how = await new Promise((ended) => child.on('close', (code, signal) => ended(signal ?? code)));
  clearTimeout(hung);
  const found = {};
  const out = path.join(folder, 'out');
  for (const name of fs.existsSync(out) ? fs.readdirSync(out) : []) {
    // server-NAME-TIME
    const scenario = name.replace(/^server-/, '').replace(/-\d{4}-\d\d-\d\dT[-\d]+Z$/, '');
    const file = path.join(out, name, 'checks.json');
    if (!fs.existsSync(file)) continue;  // a scenario that could not even begin
    const result = found[scenario] = { passed: {}, failed: [] };
    for (const check of JSON.parse(fs.readFileSync(file, 'utf8'))) {
      if (check.status === 'SUCCESS') result.passed[check.id] = (result.passed[check.id] ?? 0) + 1;
      else if (check.status !== 'SKIPPED' && check.status !== 'INFO')
        result.failed.push({ check: check.id, bad: check.status === 'FAILURE', why: `${check.errorMessage ?? check.description ?? ''}${why(check.details)}` });
    }
  }
  fs.rmSync(folder, { recursive: true, force: true });
  if (Object.keys(found).length === 0) throw new Error(`the suite gave no results (${how}):\n${said}`);
  return found;
}
function why(details) {
  const violations = details?.violations;
  return violations?.length > 0 ? ` ${JSON.stringify(violations)}`.slice(0, 600) : '';
}

// Compares a run with what is pinned. `excused` names, for each scenario, the checks that cannot pass on this way, or
// true for all of them. Gives the counts of the table, each loss, and each excuse that was not needed.
export function judge(found, revision, excused = {}) {
  const { required, extra } = scenariosOf(revision);
  const pinned = expected.revisions[revision];
  const excusable = (name, check) => excused[name] === true || (excused[name]?.includes(check) ?? false);
  const count = (names) => {
    const sum = { scenarios: 0, ofScenarios: names.length, checks: 0, ofChecks: 0 };
    for (const name of names) {
      const { passed, failed } = found[name] ?? { passed: {}, failed: [] };
      const wanted = pinned[name] ?? {};
      let whole = !failed.some((entry) => entry.bad);
      for (const [check, times] of Object.entries(wanted)) {
        const have = Math.min(passed[check] ?? 0, times);
        sum.checks += have;
        sum.ofChecks += times;
        // What cannot pass on this way keeps the scenario from passing only where the suite calls it a failure.
        whole &&= have === times || excusable(name, check);
      }
      sum.scenarios += whole && found[name] !== undefined;
    }
    return sum;
  };
  const lost = [], stale = [];
  for (const name of [...required, ...extra]) {
    const result = found[name] ?? { passed: {}, failed: [{ check: '(no result)', bad: true, why: 'the suite said nothing of this scenario' }] };
    const excuse = excused[name];
    const reason = (check) => result.failed.filter((entry) => entry.check === check).map((entry) => entry.why).join(' | ') || 'was not reached';
    const missing = new Map(Object.entries(pinned[name] ?? {}).filter(([check, times]) => (result.passed[check] ?? 0) < times));
    for (const [check] of missing) if (!excusable(name, check)) lost.push({ scenario: name, check, why: reason(check) });
    // A failed check that is not pinned is a loss, too: with the one server directly, nothing fails.
    for (const entry of result.failed)
      if (entry.bad && !missing.has(entry.check) && !excusable(name, entry.check)) lost.push({ scenario: name, check: entry.check, why: entry.why });
    if (excuse === true ? missing.size === 0 : false) stale.push({ scenario: name, check: '(all)' });
    for (const check of Array.isArray(excuse) ? excuse : [])
      if (!missing.has(check) && !result.failed.some((entry) => entry.check === check)) stale.push({ scenario: name, check });
  }
  return { required: count(required), extra: count(extra), lost, stale };
}

// What is pinned, written so that people can read and compare it: a line for each scenario and each excuse.
export function write({ suite: version, revisions, impossible }) {
  const lines = (entries) => entries.map((entry) => `   ${entry}`).join(',\n');
  const words = Object.entries(revisions).map(([revision, scenarios]) => `  ${JSON.stringify(revision)}: {\n${
    lines(Object.entries(scenarios).map(([name, checks]) => `${JSON.stringify(name)}: ${JSON.stringify(checks)}`))}\n  }`).join(',\n');
  fs.writeFileSync(path.join(here, 'expected.json'), `{\n "suite": ${JSON.stringify(version)},\n "revisions": {\n${words}\n },\n "impossible": [\n${
    lines(impossible.map((entry) => JSON.stringify(entry)))}\n ]\n}\n`);
}

// What a run showed, in the form that is pinned.
export const pin = (found, revision) => {
  const { required, extra } = scenariosOf(revision);
  return Object.fromEntries([...required, ...extra].map((name) => [name, found[name]?.passed ?? {}]));
};
