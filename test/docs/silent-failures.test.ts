import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';

/** A test, by its file below `test` and words of its title. */
type Shown = [file: string, title: string];

const PULL = 'activities/streams/pull-pages.test.ts';
const LIMITS = 'activities/streams/limits-raise-alarms.test.ts';
const SILENT = 'worker/silent-failures.test.ts';
const CONVERGE = 'convergence/convergence.test.ts';
const SAME_VALUES = 'end with the same values, whatever is edited, lost and killed meanwhile';

/**
 * What users of connectors like this one complained of in public, by the number of the complaint in our survey of them,
 * and the tests that show it here: as an alarm, or as something that cannot happen; or why it is not ours.
 */
const COMPLAINTS: Record<string, Shown[] | string> = {
  '1: a webhook is answered 200, and nobody handles it': [
    ['receiver/receiver.test.ts', 'an unknown event is stored as unknown, answered 200 and alarmed'],
    [SILENT, 'webhooks answered 200 whose records nobody reads'],
    [SILENT, 'webhooks that are all refused'],
  ],
  '2: a run that was throttled counts as completed': [
    ['activities/streams/throttled-pages.test.ts', 'reads everybody all the same, and is done only then'],
    [SILENT, 'edits that no webhook tells, in a list that is not read'],
  ],
  '3: a backfill finds nothing, and that is green': [
    [PULL, 'holds the stream before an empty list is believed, until a person resumes it'],
    [LIMITS, 'is an alarm in the next round of chores, and it names the cure'],
  ],
  '4: a field is empty for everybody, and that is green': [
    [PULL, 'holds the stream when a field that was filled is empty everywhere'],
    ['mapping/rules.test.ts', 'and never leaves a field empty that the HR system requires'],
  ],
  '5: a key loses a permission, and nulls are written': [
    [LIMITS, 'PERMISSION_LOST'],
    ['activities/exchange-outages.test.ts', 'at once are not emptied on the other side'],
  ],
  '6: a failure is seen only by whoever opens the page': [
    [
      'worker/notify-tenant.test.ts',
      'a hold and an alarm are told once each, signed, with the command that shows them',
    ],
  ],
  '7: nobody learns what was left out, and why': [
    ['operator/streams/failed-and-replay.test.ts', 'the records left out and the deliveries given up'],
    ['e2e/sync-stream.test.ts', 'unreadable records are quarantined while their page lands'],
  ],
  '8: a key shows fewer fields than before': [
    ['activities/fields/changed-fields.test.ts', 'a deleted field is an alarm and nothing is written without it'],
  ],
  '9: the light never turns green, though all is well': [
    [SILENT, 'a clean week of runs, hints and whole lists raises no alarm'],
    ['worker/notify-tenant.test.ts', 'an alarm ends by itself when its cause does'],
  ],
  '10: a cursor passes edits over': [
    [SILENT, 'edits that no webhook tells, in a list that is not read'],
    ['activities/streams/sync-pages.test.ts', 'whoever slips to a page read before, because others were deleted'],
  ],
  '11: custom fields are missing or null': [
    ['activities/fields/changed-fields.test.ts', 'records that show their fields cost a sync no call'],
    ['mapping/evaluate.test.ts', 'whatever a custom field holds becomes a value of the right type, or a problem'],
  ],
  '12: what was deleted stays': [[PULL, 'is gone after two passes']],
  '13: a rate limit crashes the run, and attempts burn it': [
    ['activities/streams/throttled-pages.test.ts', 'reads everybody all the same, and is done only then'],
    ['activities/key-latch.test.ts', 'after one 401 nothing more is asked with the key'],
  ],
  '14: syncing by hand is allowed twice a day':
    'nothing here counts runs by hand: `sync` begins one when none is under way',
  '15: a day passes between two runs': 'the period of each stream is the tenant’s to choose, and hints come between',
  '16: a run takes longer than its period': [
    [PULL, 'two attempts of one run leave no record out and count each once'],
    [SILENT, 'runs that no longer come to an end'],
  ],
  '17: records are deleted because a pass was not whole': [
    [PULL, 'is gone at once after an event that says so and a read; a mere hint does not delete'],
    [LIMITS, 'MASS_DELETE'],
  ],
  '18: of two webhooks in one second the older one wins': [[CONVERGE, SAME_VALUES]],
  '19: a list that was read earlier overwrites what a webhook brought': [[CONVERGE, SAME_VALUES]],
  '20: what a webhook changed is told to nobody': [
    [PULL, 'are read by their ids, a hundred a call, and cleared once their records have landed'],
    ['e2e/refused-key.test.ts', 'a key that is deactivated pauses the tenant once'],
  ],
};

const shownHere = Object.entries(COMPLAINTS).filter((entry): entry is [string, Shown[]] => Array.isArray(entry[1]));

test.each(shownHere)('%s: the tests that show it are there', async (_complaint, shown) => {
  for (const [file, title] of shown) {
    const text = await readFile(join(import.meta.dirname, '..', file), 'utf8');
    expect(text, file).toContain(title);
  }
});
