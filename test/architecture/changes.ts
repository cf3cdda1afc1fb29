/**
 * One addition to the project, as small as its rooms allow: new files, and lines put behind a line that stands there.
 */
export interface Change {
  files: Record<string, string>;
  lines: Array<{ file: string; after: string; add: string }>;
}

/** A stream: its entry in the list. */
export const stream: Change = {
  files: {},
  lines: [
    {
      file: 'src/streams/index.ts',
      after: "import { type ExchangeStream, lookupTable, type PullStream, type PushStream } from './stream.ts';",
      add: `
export const campaigns: PullStream = {
  kind: 'pull',
  list: contract.campaigns.list as ListEndpoint,
  record: { name: 'campaign', fields: ['id', 'title'] },
  landing: { title: { type: 'text' } },
};`,
    },
  ],
};

/** An HRIS adapter: its folder, and its line in the list. */
export const adapter: Change = {
  files: {
    'src/hris/paper/paper.ts': `import { z } from 'zod';
import { ConnectorError } from '../../errors.ts';
import type { HrisAdapter } from '../port.ts';

const Options = z.strictObject({ cabinet: z.string() });

export const paper: HrisAdapter<z.output<typeof Options>> = {
  optionsSchema: () => Options,
  systemOf: ({ cabinet }) => ({ cabinet }),
  employeeFields: () => [{ key: 'name', label: 'Name', type: 'text', required: true, writable: true }],
  open: async ({ cabinet }) => ({
    capabilities: { storesReference: false, readLagMs: 0 },
    employees: {
      find: async () => ({ kind: 'none', trusted: true }),
      create: async () => {
        throw new ConnectorError({ code: 'CABINET_FULL', action: 'reject', message: \`Cabinet \${cabinet} is full.\` });
      },
      update: async () => undefined,
      read: async () => undefined,
    },
    probe: async () => ({ ok: true }),
    close: async () => undefined,
  }),
};
`,
  },
  lines: [
    {
      file: 'src/hris/index.ts',
      after: "export { sql } from './sql/sql.ts';",
      add: "export { paper } from './paper/paper.ts';",
    },
  ],
};

/** A hold code: its entry in the catalogue. */
export const hold: Change = {
  files: {},
  lines: [
    {
      file: 'src/hire/hold-catalogue.ts',
      after: 'export const holdCatalogue = {',
      add: `  BADGE_MISSING: {
    scope: 'hire',
    answers: ['retry', 'cancel'],
    what: ({ jobCandidateId }: OfHire) => \`Job candidate \${jobCandidateId} has no badge.\`,
    asks: 'Print one, then answer retry.',
  },`,
    },
  ],
};

/** Somebody who opens that hold: no part of the addition, but what must type-check with it and only with it. */
export const holdUse: Change = {
  files: {
    'activities/hire/check-badge.ts': `import { type Held, held } from '../../src/hire/holds.ts';

export function checkBadge(jobCandidateId: string): Held {
  return held('BADGE_MISSING', { jobCandidateId });
}
`,
  },
  lines: [],
};

/** An event: its schema in the contract, and what it leads to. */
export const event: Change = {
  files: {},
  lines: [
    {
      file: 'src/partner/contract/events.ts',
      after: 'export const events = {',
      add: "  'candidate.moved_house': z.looseObject({ candidateIds: ids }),",
    },
    {
      file: 'src/worker/dispatch.ts',
      after: 'export const dispatch',
      add: "  'candidate.moved_house': { nothing: 'nobody lands houses' },",
    },
  ],
};
