// Lets the official suite test mcpbx in the role of the client. The suite starts this program once for each scenario, with
// the address of its server as last argument; a private daemon gets that server as its only one, and what a person would do
// is done through the CLI. Nothing in mcpbx knows of this.
//
// usage: client_adapter.mjs URL      MCPBX_BIN, MCP_CONFORMANCE_SCENARIO, _PROTOCOL_VERSION and _CONTEXT come from outside;
//                                    MCPBX_ADAPTER_RUN: a model makes the calls, in a run
//        client_adapter.mjs --browse URL      what the daemon opens as the browser: follows the redirects
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const self = fileURLToPath(import.meta.url);
const url = process.argv.at(-1);
if (process.argv[2] === '--browse') {
  await fetch(url).then((page) => page.text());
  process.exit(0);
}

const { Daemon, node } = await import('../lib.mjs');
const { LLMock } = await import('@copilotkit/aimock');
const { MCP_CONFORMANCE_SCENARIO: scenario = '', MCP_CONFORMANCE_PROTOCOL_VERSION: revision = 'auto', MCP_CONFORMANCE_CONTEXT: given = '{}' } = process.env;
const context = JSON.parse(given);

// The settings of the login. What the context has stands for what people get from whoever runs the authorization server.
function login() {
  const auth = { clientId: context.client_id, clientSecret: context.client_secret, privateKey: context.private_key_pem };
  if (scenario.startsWith('auth/client-credentials')) return { ...auth, grant: 'clientCredentials' };
  if (scenario === 'auth/wif-jwt-bearer') return { ...auth, grant: 'workload', assertion: context.valid_jwt };
  if (scenario === 'auth/enterprise-managed-authorization')
    return { ...auth, grant: 'enterprise', assertion: context.idp_id_token, idpTokenUrl: context.idp_token_endpoint, idpClientId: context.idp_client_id };
  return { ...auth, open: `${node} ${self} --browse`, clientMetadataUrl: 'https://conformance-test.local/client-metadata.json' };
}
const server = { url, protocol: revision, ...(scenario.startsWith('auth/') ? { auth: login() } : {}) };
const model = process.env.MCPBX_ADAPTER_RUN ? new LLMock({ port: 0, host: '127.0.0.1', logLevel: 'silent' }) : undefined;
await model?.start();
const models = model ? { models: { mock: { api: 'openai-chat', baseUrl: `${model.url}/v1`, model: 'mock' } }, defaultModel: 'mock' } : {};
const daemon = await Daemon.start({ mcpServers: { suite: server }, toolNames: 'plain', store: { url: 'none' }, ...models });

let status = 0;
async function cli(...args) {
  const ran = await daemon.mcpbx(...args);
  if (ran.status === 0) return args[0] === '--json' ? JSON.parse(ran.stdout) : ran.stdout;
  console.error(`mcpbx ${args.join(' ')} ended with ${ran.status}: ${ran.stderr}${ran.stdout}`);
  status = 1;
  return [];
}
// A value of the type that a schema asks for.
const valueOf = ({ type }) => ({ number: 5, integer: 5, boolean: true, array: [], object: {} })[type] ?? 'words';
const argumentsOf = ({ inputSchema }) => Object.fromEntries(Object.entries(inputSchema.properties ?? {}).map(([name, schema]) => [name, valueOf(schema)]));

await cli('wait', '--timeout', '25');
const tools = status === 0 ? await cli('--json', 'tools') : [];
// The calls that the scenario names, else each tool once; a scenario about lists alone calls none.
const listsAlone = scenario.startsWith('json-schema');
const echoed = tools.find((tool) => tool.name === 'json_schema_2020_12_tool')?.inputSchema;
const calls = echoed ? [{ name: 'json_schema_echo', arguments: { schema: echoed } }] :
  context.toolCalls ?? (listsAlone ? [] : tools.map((tool) => ({ name: tool.name, arguments: argumentsOf(tool) })));
// Only where the server asks something: an answer nobody needs would hide a question too many.
const asks = ['elicitation-sep1034-client-defaults', 'sep-2322-client-request-state'].includes(scenario);
if (model) {
  const toolCalls = calls.map((call) => ({ name: call.name, arguments: JSON.stringify(call.arguments) }));
  model.addFixture({ match: { userMessage: 'use the tools', hasToolResult: false }, response: { toolCalls } });
  model.addFixture({ match: { userMessage: 'use the tools' }, response: { content: 'They were used.' } });
  if (await cli('ask', 'use the tools') !== 'They were used.\n') status = 1;
  await model.stop();
} else for (const call of calls) await cli('--json', 'call', call.name, '--args', JSON.stringify(call.arguments), ...(asks ? ['--input', 'accept'] : []));
if (status === 0 && scenario === 'http-standard-headers') {
  for (const { uri } of await cli('--json', 'resources', 'list')) await cli('resources', 'read', uri);
  for (const { name } of await cli('--json', 'prompts', 'list')) await cli('prompts', 'get', name);
}
if (process.env.MCPBX_ADAPTER_LOGS) fs.writeFileSync(path.join(process.env.MCPBX_ADAPTER_LOGS, scenario.replace('/', '-')), daemon.log);
if (status !== 0) console.error(daemon.log);
daemon.process.kill('SIGTERM');
await daemon.ended;
fs.rmSync(daemon.folder, { recursive: true, force: true });
process.exit(status);
