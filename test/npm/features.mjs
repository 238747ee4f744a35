// Everything that a server offers beside tools, and everything that it asks, in the four combinations of eras: SDK clients
// of each era through `mcpbx mcp`, a server of the old era that others wrote (server-everything), and the fixture server
// held to the new one.
//
// usage: features.mjs [--direct]      --direct: without mcpbx, the two combinations that can do without a bridge
import assert from 'node:assert/strict';
import path from 'node:path';
import { connect, kinds, until } from './clients.mjs';
import { Daemon, bin, checks, here, node, packagePath } from './lib.mjs';

const direct = process.argv.includes('--direct');
const entries = {
  everything: { command: node, args: [packagePath('@modelcontextprotocol/server-everything/dist/index.js')] },
  fixture: { command: node, args: [path.join(here, 'conformance', 'fixture.mjs'), '--era', 'modern', '--page', '3'] },
  // Last, since it has the same resources as the fixture of the new era, which keep their URIs where they are listed first.
  older: { command: node, args: [path.join(here, 'conformance', 'fixture.mjs'), '--era', 'legacy'] },
};
const d = await Daemon.start({ mcpServers: entries });
const shim = { stdio: { command: path.join(bin, 'mcpbx'), args: ['--socket', d.socket, 'mcp'], env: d.env } };
const [everything, fixture, older] = Object.keys(entries).map((name) => (own) => (direct ? own : `${name}__${own}`));
const text = (result) => result.content.map((block) => block.text ?? '').join('\n');
const callers = { 'an old caller': { kind: kinds[0], era: 'legacy' }, 'a new caller': { kind: kinds[3], era: 'modern' } };
// Where each server has what the checks ask for.
const servers = {
  'an old server': {
    name: 'everything', era: 'legacy',
    prompts: 4, prompt: { name: everything('args-prompt'), arguments: { city: 'Oslo' } }, says: /Oslo/,
    resources: 7, read: { 'demo://resource/static/document/features.md': /# |Features/, 'demo://resource/dynamic/text/3': /3/ }, templates: 2,
    complete: { ref: { type: 'ref/prompt', name: everything('completable-prompt') }, argument: { name: 'department', value: 'S' } }, values: ['Sales', 'Support'],
    elicit: [everything('trigger-elicitation-request'), {}, /Ada|accept/], sample: [everything('trigger-sampling-request'), { prompt: 'Speak.', maxTokens: 10 }, /sampled words/],
    // server-everything asks for the roots once and keeps them for all callers.
    roots: direct ? [everything('get-roots-list'), {}, /file:\/\//] : [older('test_input_required_result_list_roots'), {}, /1 roots/], rootsOf: 'older', watch: 'demo://resource/static/document/startup.md', touch: [everything('toggle-subscriber-updates'), {}],
  },
  'a new server': {
    name: 'fixture', era: 'modern',
    prompts: 5, prompt: { name: fixture('test_prompt_with_arguments'), arguments: { arg1: 'Oslo', arg2: 'Bergen' } }, says: /Oslo.*Bergen/,
    resources: 3, read: { 'test://static-text': /static text resource/, 'test://template/3/data': /Data for ID: 3/ }, templates: 1,
    complete: { ref: { type: 'ref/prompt', name: fixture('test_prompt_with_arguments') }, argument: { name: 'arg1', value: 'par' } }, values: ['paris', 'park', 'party'],
    elicit: [fixture('test_elicitation'), { message: 'Which?' }, /action=accept.*Ada/], sample: [fixture('test_sampling'), { prompt: 'Speak.' }, /sampled words/],
    roots: [fixture('test_input_required_result_list_roots'), {}, /1 roots/], watch: 'test://watched-resource', touch: [fixture('test_trigger_resource_update'), { uri: 'test://watched-resource' }],
  },
};

const list = { 'the servers become ready': () => d.ready() };
for (const [who, { kind, era }] of Object.entries(callers))
  for (const [whom, server] of Object.entries(servers)) {
    if (direct && era !== server.era) continue;
    const way = direct ? { stdio: entries[server.name] } : shim;
    const check = (name, use, options) => { list[`${who}, ${whom}: ${name}`] = async () => {
      const client = await connect(kind, way, options);
      try { await use(client); } finally { await client.close(); }
    }; };
    const own = (entries, key) => entries.filter((entry) => `${entry[key]}`.startsWith(key === 'name' ? (direct ? '' : `${server.name}__`) : server.name === 'fixture' ? 'test:' : 'demo:'));
    const call = async (client, [name, args]) => {
      const result = await client.callTool({ name, arguments: args });
      assert.ok(!result.isError, text(result));
      return result;
    };
    // The question came once. One that mcpbx had to put into the words of the other era says which server asks; from a new
    // server to a new caller it passes untouched. SDK 2.x hands no _meta of a sampling on.
    const asks = (method, [name, args, said], asker = server.name) => async (client) => {
      assert.match(text(await call(client, [name, args])), said);
      const questions = client.asked.filter((question) => question.method === method);
      assert.equal(questions.length, 1);
      if (!direct && (era === 'legacy' || (server.era === 'legacy' && method !== 'sampling/createMessage'))) assert.equal(questions[0].params?._meta?.['mcpbx/server'], asker);
    };
    check('prompts are listed and given', async (client) => {
      assert.equal(own((await client.listPrompts()).prompts, 'name').length, server.prompts);
      assert.match(JSON.stringify((await client.getPrompt(server.prompt)).messages), server.says);
    });
    check('resources and templates are listed and read', async (client) => {
      assert.equal(own((await client.listResources()).resources, 'uri').length, server.resources);
      assert.equal(own((await client.listResourceTemplates()).resourceTemplates, 'uriTemplate').length, server.templates);
      for (const [uri, contents] of Object.entries(server.read)) {
        const read = await client.readResource({ uri });
        assert.equal(read.contents[0].uri, uri);
        assert.match(read.contents[0].text, contents);
      }
    });
    check('a resource that is not there is said in the words of the era', async (client) => {
      const error = await client.readResource({ uri: `${Object.keys(server.read)[0]}/nothing` }).then(() => assert.fail('it was read'), (error) => error);
      // Nobody lists it, so mcpbx answers; directly, server-everything has a code of its own for it.
      assert.equal(error.code, era === 'legacy' && !direct ? -32002 : -32602);
    });
    check('arguments of prompts are completed', async (client) =>
      assert.deepEqual((await client.complete(server.complete)).completion.values, server.values));
    check('an elicitation is answered by the caller', asks('elicitation/create', server.elicit));
    check('a sampling is answered by the caller', asks('sampling/createMessage', server.sample));
    check('roots are those of the caller', asks('roots/list', server.roots, server.rootsOf));
    check('a watched resource tells its changes', async (client) => {
      const updates = () => client.heard.filter((note) => note.method === 'notifications/resources/updated').map((note) => note.params.uri);
      const stream = era === 'legacy' ? (await client.subscribeResource({ uri: server.watch }), null) : await client.listen({ resourceSubscriptions: [server.watch] });
      // The watched resource is told, and whether the touch came before the subscription reached the server does not matter.
      await until(`an update of ${server.watch}`, async () => { await call(client, server.touch); return updates().length > 0; });
      assert.ok(updates().every((uri) => uri === server.watch));
      await (stream ? stream.close() : client.unsubscribeResource({ uri: server.watch }));
    });
    check('a caller who can answer nothing gets an error or a decline, and no question', async (client) => {
      const said = await client.callTool({ name: server.elicit[0], arguments: server.elicit[1] }).then(text, (error) => `${error.code} ${error.message}`);
      assert.match(said, /decline|cancel|capabilit|-32021|elicit/i);
      assert.deepEqual(client.asked, []);
    }, { plain: true });
    check('progress of a long call comes', async (client) => {
      const [name, args] = server.name === 'fixture' ? [fixture('test_tool_with_progress'), {}] : [everything('trigger-long-running-operation'), { duration: 1, steps: 3 }];
      const seen = [];
      const params = { name, arguments: args }, options = { onprogress: (note) => seen.push(note.progress) };
      await (kind === kinds[0] ? client.callTool(params, undefined, options) : client.callTool(params, options));
      assert.ok(seen.length >= 2, `${seen}`);
    });
    if (server.name === 'fixture')
      check('a changed list is told', async (client) => {
        const stream = era === 'legacy' ? null : await client.listen({ toolsListChanged: true, promptsListChanged: true });
        for (const kindOfList of ['tool', 'prompt']) {
          const method = `notifications/${kindOfList}s/list_changed`;
          await until(method, async () => { await call(client, [fixture(`test_trigger_${kindOfList}_change`), {}]); return client.heard.some((note) => note.method === method); });
        }
        await stream?.close();
      });
  }
list['stopping is clean'] = () => d.stop();
await checks(list, { all: true });
