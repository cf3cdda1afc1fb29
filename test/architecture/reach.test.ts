import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { adapter, type Change, event, hold, holdUse, stream } from './changes.ts';
import { type PatchedTree, patchTree } from './patched-tree.ts';

const probe = `
  const { streamNames } = await import('./src/streams/streams.ts');
  const { hrisKinds } = await import('./src/hris/registry.ts');
  const { program } = await import('./src/cli/program.ts').catch(() => ({}));
  const { holdCatalogue } = await import('./src/hire/holds.ts');
  const { dispatch } = await import('./src/worker/dispatch.ts');
  const { isEventName } = await import('./src/partner/contract/events.ts');
  const { tenantFile } = await import('./src/tenants/schema.ts').then((m) => ({ tenantFile: m.tenantFile ?? m.TenantFile }));
  const event = 'candidate.moved_house';
  console.log(JSON.stringify({
    stream: streamNames.includes('users'),
    adapter: hrisKinds().includes('paper'),
    hold: 'BADGE_MISSING' in holdCatalogue,
    event: isEventName(event) && event in dispatch,
  }));
`;

/** How many lines of files that stand there an addition touches. An entry counts as one, however it is wrapped. */
function reachOf({ files, lines }: Change): { newFiles: string[]; lines: string[] } {
  return { newFiles: Object.keys(files), lines: lines.map(({ file }) => file) };
}

test.each([
  ['a stream', stream, { newFiles: ['src/streams/users.ts'], lines: ['src/streams/index.ts'] }],
  ['an HRIS adapter', adapter, { newFiles: ['src/hris/paper/paper.ts'], lines: ['src/hris/index.ts'] }],
  ['a hold code', hold, { newFiles: [], lines: ['src/hire/holds.ts'] }],
  ['an event', event, { newFiles: [], lines: ['src/partner/contract/events.ts', 'src/worker/dispatch.ts'] }],
])('%s reaches no further than its own file and its line', (_what, change, reach) => {
  expect(reachOf(change)).toEqual(reach);
});

describe('with everything added', () => {
  let tree: PatchedTree;
  beforeAll(() => {
    tree = patchTree([stream, adapter, hold, holdUse, event]);
  });
  afterAll(() => tree.remove());

  test('the product type-checks', async () => {
    expect(await tree.typeErrors()).toBe('');
  }, 240_000);

  test('the product knows each of them', async () => {
    expect(await tree.run(probe)).toEqual({ stream: true, adapter: true, hold: true, event: true });
  });
});

describe('with the line of each left out', () => {
  let tree: PatchedTree;
  beforeAll(() => {
    const withoutLines = [stream, adapter, hold].map(({ files }) => ({ files, lines: [] }));
    const schemaAlone = { files: {}, lines: event.lines.slice(0, 1) };
    tree = patchTree([...withoutLines, holdUse, schemaAlone]);
  });
  afterAll(() => tree.remove());

  test('the type checker misses the hold and what the event leads to', async () => {
    const errors = await tree.typeErrors();
    expect(errors).toMatch(/^activities\/hire\/check-badge\.ts.*BADGE_MISSING/m);
    expect(errors).toMatch(/^src\/worker\/dispatch\.ts.*candidate\.moved_house/m);
    expect(errors.match(/error TS/g)).toHaveLength(2);
  }, 240_000);

  test('the product knows none of them', async () => {
    expect(await tree.run(probe)).toEqual({ stream: false, adapter: false, hold: false, event: false });
  });
});
