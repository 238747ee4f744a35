// The tasks extension (io.modelcontextprotocol/tasks) of the fixture server, for callers of 2026-07-28: tools that go on
// after their call was answered with a task, which is then asked for, answered and cancelled by its id.
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { MissingRequiredClientCapabilityError, ProtocolError } from '@modelcontextprotocol/server';

export const extension = 'io.modelcontextprotocol/tasks';
const tasks = new Map();
const mostTasks = 256;

class Task {
  constructor(work) {
    this.id = randomUUID();
    this.created = this.updated = new Date().toISOString();
    this.state = { status: 'working' };
    this.open = new Map();
    this.stop = new AbortController();
    if (tasks.size >= mostTasks) tasks.delete(tasks.keys().next().value);
    tasks.set(this.id, this);
    work(this).then((result) => this.turn({ status: 'completed', result }), (error) =>
      this.turn({ status: 'failed', error: { code: error.code ?? -32603, message: error.message } }));
  }
  get over() { return ['completed', 'failed', 'cancelled'].includes(this.state.status); }
  turn(state) {
    if (this.over) return;
    this.state = state;
    this.updated = new Date().toISOString();
  }
  // Puts questions to whoever follows the task; resolves with the answer to each.
  ask(requests) {
    return Promise.all(Object.entries(requests).map(([key, request]) => new Promise((answered) => {
      this.open.set(key, { request, answered });
      this.turn({ status: 'input_required' });
    })));
  }
  answer(responses) {
    for (const [key, response] of Object.entries(responses)) {
      this.open.get(key)?.answered(response);
      this.open.delete(key);
    }
    if (this.open.size === 0 && this.state.status === 'input_required') this.turn({ status: 'working' });
  }
  cancel() {
    this.turn({ status: 'cancelled' });
    this.stop.abort();
  }
  get head() {
    return { taskId: this.id, status: this.state.status, createdAt: this.created, lastUpdatedAt: this.updated, ttlMs: 600_000, pollIntervalMs: 100 };
  }
  get whole() {
    const questions = Object.fromEntries([...this.open].map(([key, { request }]) => [key, request]));
    return { ...this.head, ...this.state, ...(this.state.status === 'input_required' ? { inputRequests: questions } : {}) };
  }
}

const declares = (capabilities) => capabilities?.extensions?.[extension] !== undefined;
const missing = () => new MissingRequiredClientCapabilityError({ requiredCapabilities: { extensions: { [extension]: {} } } });

// A handler that goes on as a task for callers who know tasks, and answers at once for the others, unless it must not.
// `work` takes the arguments and the task; without a task there is nobody to ask, and a caller who waits for the answer.
const asTask = (work, { required = false } = {}) => (args, call) => {
  if (call.era === 'modern' && declares(call.capabilities)) return { resultType: 'task', ...new Task((task) => work(args, task)).head };
  if (call.era === 'modern' && required) throw missing();
  return work(args, { patience: 1, stop: new AbortController(), ask: async (requests) => Object.keys(requests).map(() => ({ action: 'cancel' })) });
};

// The tools that the suite's tasks scenarios call. `kit` has what tools of the fixture are made of.
export function taskTools({ say, object, string, elicit, question, ask }) {
  const confirm = { confirm: { type: 'boolean' } };
  return {
    greet: ['Greets at once', (args) => say(`Hello, ${args.name}!`), object({ name: string })],
    slow_compute: ['Works for some seconds', asTask(async (args, task) => {
      await pause(Math.min(args.seconds ?? 0, task.patience ?? 3600) * 1000, undefined, { signal: task.stop.signal }).catch(() => {});
      return say(`Computed ${args.label ?? 'it'}`);
    }), object({ seconds: { type: 'number' }, label: string }, [])],
    failing_job: ['Fails as a tool does', asTask(async () => { await pause(300); return { ...say('The job failed.'), isError: true }; }, { required: true })],
    protocol_error_job: ['Fails as a protocol does', asTask(async () => { await pause(300); throw new ProtocolError(-32603, 'The job broke.'); })],
    confirm_delete: ['Asks before it deletes', asTask(async (args, task) => {
      const [answer] = await task.ask({ confirm: elicit(`Delete ${args.filename}?`, confirm) });
      return say(answer.content?.confirm === true ? `Deleted ${args.filename}` : `Kept ${args.filename}`);
    }), object({ filename: string })],
    multi_input: ['Asks two things at once', asTask(async (args, task) => {
      const given = await task.ask({ first: elicit('First?', confirm), second: elicit('Second?', confirm) });
      return say(given.map((answer) => answer.action).join(', '));
    })],
    test_tool_with_task: ['Asks, and then goes on as a task', (args, call) => {
      const name = question(call, 'user_name')?.name;
      if (typeof name !== 'string') return ask({ user_name: elicit('What is your name?', { name: string }) });
      return asTask(async () => say(`Hello, ${name}!`))(args, call);
    }],
  };
}

const anything = { '~standard': { version: 1, vendor: 'mcpbx', validate: (value) => ({ value }) } };

// Registers the methods of the extension at a server of the new era.
export function serveTasks(server) {
  const on = (method, answer) => server.setRequestHandler(method, { params: anything }, (params, ctx) => {
    if (!declares(ctx.mcpReq.envelope?.['io.modelcontextprotocol/clientCapabilities'])) throw missing();
    const task = tasks.get(params.taskId);
    if (!task) throw new ProtocolError(-32602, `There is no task ${params.taskId}.`);
    return answer(task, ctx) ?? {};
  });
  on('tasks/get', (task) => task.whole);
  // The SDK takes the answers out of the parameters, as it does for calls.
  on('tasks/update', (task, ctx) => { task.answer(ctx.mcpReq.inputResponses ?? {}); });
  on('tasks/cancel', (task) => { task.cancel(); });
}
