import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defaultPayloadConverter } from '@temporalio/common';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import { bundleWorkflowCode, Worker } from '@temporalio/worker';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { bundleWorkflows } from '../../src/temporal/worker.ts';

/** Each recorded once, when its path first passed whole; a later change adds a file and never records these again. */
const histories = fileURLToPath(new URL('./histories/', import.meta.url));
const root = fileURLToPath(new URL('../../', import.meta.url));

const recorded = (await readdir(histories)).filter((name) => name.endsWith('.json'));
let code: string;

beforeAll(async () => {
  code = await bundleWorkflows();
});

async function bundle(workflowsPath: string): Promise<string> {
  const nothing = (): void => undefined;
  const logger = { log: nothing, trace: nothing, debug: nothing, info: nothing, warn: nothing, error: nothing };
  return (await bundleWorkflowCode({ workflowsPath, logger })).code;
}

/** What Temporal's client interceptor sends with a start, and the name of that header. */
const TRACE = defaultPayloadConverter.toPayload({ traceparent: `00-${'5'.repeat(32)}-${'7'.repeat(16)}-01` });

async function replay(workflows: string, name: string, options: { traced?: boolean } = {}): Promise<void> {
  const history = historyFromJSON(JSON.parse(await readFile(join(histories, name), 'utf8')));
  const started = history.events?.[0]?.workflowExecutionStartedEventAttributes;
  if (started && options.traced) started.header = { fields: { '_tracer-data': TRACE } };
  await Worker.runReplayHistory({ workflowBundle: { code: workflows } }, history);
}

/** The workflows with texts replaced, bundled from a copy inside the project, so that packages resolve. */
async function bundleChanged(file: string, changes: Array<[find: string, replace: string]>): Promise<string> {
  const dir = await mkdtemp(join(root, '.changed-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  // With what workflows import at run time.
  for (const name of ['workflows', 'src/hire', 'src/errors.ts', 'src/in-words.ts'])
    await cp(join(root, name), join(dir, name), { recursive: true });
  let source = await readFile(join(dir, 'workflows', file), 'utf8');
  for (const [find, replace] of changes) {
    expect(source.split(find)).toHaveLength(2);
    source = source.replace(find, replace);
  }
  await writeFile(join(dir, 'workflows', file), source);
  return bundle(join(dir, 'workflows', 'index.ts'));
}

test('there are histories of a plain, a held and a cancelled hire, of a reconcile and of streams', () => {
  expect(recorded).toEqual(
    expect.arrayContaining([
      'hire-plain.json',
      'hire-held.json',
      'hire-cancelled.json',
      'reconcile-tenant.json',
      'sync-stream.json',
      'pull-stream.json',
      'pull-heard.json',
      'exchange-stream.json',
      'push-stream.json',
    ]),
  );
});

test.each(recorded)('today’s workflows replay %s', async (name) => {
  await replay(code, name);
});

test.each(recorded)('today’s workflows replay %s while they make spans, though none was made before', async (name) => {
  await replay(code, name, { traced: true });
});

test('two activities swapped do not replay', async () => {
  const swapped = await bundleChanged('hire.ts', [
    ['activities.employ({ ...ref, ...GO_ON, seenAtOpening })', 'activities.finishHire(ref)'],
    ['await activities.finishHire(ref)', 'await activities.employ(ref)'],
  ]);
  await expect(replay(swapped, 'hire-plain.json')).rejects.toThrow(/TMPRL1100|[Nn]ondeterminism/);
});

test('a run that heard a hint while it waited does not replay without its patch', async () => {
  const unpatched = await bundleChanged('streams.ts', [[" && patched('heard-while-waiting')", '']]);
  await expect(replay(unpatched, 'pull-heard.json')).rejects.toThrow(/TMPRL1100|[Nn]ondeterminism/);
});
