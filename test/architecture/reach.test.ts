import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { adapter, type Change, event, hold, holdUse, stream } from './changes.ts';
import { type PatchedTree, patchTree, touchedBy } from './patched-tree.ts';

const PROBE = `
  const { everyStream, streamNames } = await import('./src/streams/streams.ts');
  const { findHrisAdapter, hrisKinds } = await import('./src/hris/registry.ts');
  const { holdCatalogue } = await import('./src/hire/hold-catalogue.ts');
  const { dispatch } = await import('./src/worker/dispatch.ts');
  const { isEventName } = await import('./src/partner/contract/events.ts');
  const event = 'candidate.moved_house';
  console.log(JSON.stringify({
    stream: streamNames.includes('campaigns') && 'campaigns' in everyStream(() => true),
    adapter: hrisKinds().includes('paper') && findHrisAdapter('paper') !== undefined,
    hold: 'BADGE_MISSING' in holdCatalogue,
    event: isEventName(event) && event in dispatch,
  }));
`;

/** Lines of one entry in a list. */
const STREAM = 7;
const HOLD = 6;

/** A type check of the whole product takes seven seconds alone, and minutes on a machine with other work. */
const MINUTES = 300_000;

test.each<[what: string, Change, added: string[], lines: Record<string, number>]>([
  ['a stream: one entry', stream, [], { 'src/streams/index.ts': STREAM }],
  ['an HRIS adapter: one folder and one line', adapter, ['src/hris/paper/paper.ts'], { 'src/hris/index.ts': 1 }],
  ['a hold code: one entry', hold, [], { 'src/hire/hold-catalogue.ts': HOLD }],
  [
    'an event: its schema and one line',
    event,
    [],
    { 'src/partner/contract/events.ts': 1, 'src/worker/dispatch.ts': 1 },
  ],
])('%s', (_what, change, added, lines) => {
  expect(touchedBy(change)).toEqual({ added, lines });
});

let tree: PatchedTree;
afterAll(() => tree.remove());

describe('with all of them added', () => {
  beforeAll(() => {
    tree = patchTree([stream, adapter, hold, holdUse, event]);
  }, MINUTES);

  test(
    'the product type-checks',
    async () => {
      expect(await tree.typeErrors()).toBe('');
    },
    MINUTES,
  );

  test(
    'the product knows each of them',
    async () => {
      expect(JSON.parse(await tree.evaluate(PROBE))).toEqual({ stream: true, adapter: true, hold: true, event: true });
    },
    MINUTES,
  );

  test(
    'the command line knows the stream',
    async () => {
      // A stream that is none is rejected with the names of those that are.
      await expect(tree.run(['src/cli/main.ts', 'sync', 'acme', 'nonsense'])).rejects.toThrow(/\bcampaigns\b/);
    },
    MINUTES,
  );
});

describe('with the line of each left out', () => {
  beforeAll(() => {
    const withoutLines = [stream, adapter, hold].map(({ files }) => ({ files, lines: [] }));
    const schemaAlone = { files: {}, lines: event.lines.slice(0, 1) };
    tree = patchTree([...withoutLines, holdUse, schemaAlone], tree);
  }, MINUTES);

  test(
    'the type checker misses the hold, and what the event leads to',
    async () => {
      const errors = await tree.typeErrors();
      expect(errors).toMatch(/^activities\/hire\/check-badge\.ts.*BADGE_MISSING/m);
      expect(errors).toMatch(/^src\/worker\/dispatch\.ts.*candidate\.moved_house/m);
      expect(errors.match(/error TS/g)).toHaveLength(2);
    },
    MINUTES,
  );

  test(
    'the product knows none of them',
    async () => {
      expect(JSON.parse(await tree.evaluate(PROBE))).toEqual({
        stream: false,
        adapter: false,
        hold: false,
        event: false,
      });
    },
    MINUTES,
  );
});
