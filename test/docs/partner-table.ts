/** Writes the tables of docs/streams.md: `node test/docs/partner-table.ts > docs/streams.md`. */
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { allEndpoints } from '../../src/partner/contract/index.ts';
import { pullNames, pullStreams } from '../../src/streams/streams.ts';
import { dispatch } from '../../src/worker/dispatch.ts';

const root = path.join(import.meta.dirname, '../..');

/** Who calls the partner, by the beginning of a file's path; contract, sandbox and demonstrations are not us. */
const FLOWS: readonly (readonly [string, string | undefined])[] = [
  ['src/partner/', undefined],
  ['src/sandbox/', undefined],
  ['src/cli/demo', undefined],
  ['src/streams/index.ts', undefined],
  ['src/streams/consents.ts', '`consents`'],
  ['src/cli/', 'commands'],
  ['src/operator/', 'commands'],
  ['src/worker/chores.ts', 'check of the key'],
  ['activities/guarded.ts', 'check of the key'],
  ['activities/hire/', 'hires'],
  ['activities/presence/', 'hires'],
  ['activities/fields/', 'custom fields in mappings'],
  ['activities/reconcile/', 'reconcile'],
  ['activities/exchange/', '`employees`, `positions`, `amendments`'],
  ['activities/push/', '`options`, `requisitions`, `results`'],
  ['activities/requisitions/', '`requisitions`'],
  ['activities/employment/', '`employment`'],
  ['activities/documents/', '`documents`'],
  ['activities/invitations/', '`invitations`'],
  ['activities/sourcing/', '`sourcing`'],
  ['activities/results/', '`results`'],
  ['activities/rescoring/', '`rescoring`'],
  ['activities/resumes/', '`resumes`'],
  ['activities/calendar/', '`calendar`'],
  ['activities/erase/', 'privacy policy'],
  ['activities/options/', '`options`'],
];

const words = (text: string): string[] => text.split(' ');

/** Why nothing calls an endpoint, by the reason. */
const REASONS: Readonly<Record<string, readonly string[]>> = {
  'its address is time-limited (section 8): nobody asked for this file': ['assessments.getReport'],
  'it costs a call for each interview, and anybody with its address can open the page': ['assessments.getShareLink'],
  'always empty for interviews (section 4.8)': words('bookingSchedules.listLocations bookingSchedules.listQuestions'),
  'the service does not send the link (section 4.8), and hirebridge does not write to candidates': [
    'bookingSchedules.createLink',
  ],
  'its fields are not shown (section 4.10)': ['sites.list'],
  'its body is not shown (section 4.10), and a person decides whom to call': ['campaigns.addLeads'],
  'people set it up in the dashboard': [
    ...words('pipelines.create pipelines.rename pipelines.saveStage pipelines.deleteStage'),
    ...words('assessments.createAudioInterview assessments.update assessments.addQuestion assessments.updateQuestion'),
    ...words('assessments.removeQuestion assessments.autoGenerate assessments.generateQuestions'),
    ...words('assessmentFlows.create assessmentFlows.update campaigns.create'),
  ],
  'the list shows the same': [
    ...words('pipelines.get customFieldValues.get assessmentFlows.get'),
    ...words('bookingSchedules.get campaigns.get users.get teams.get'),
  ],
  'the list shows it too, and all are read at once': words('onboarding.getDocument onboarding.getOffer'),
  'candidates choose and book for themselves': words('bookingSchedules.listSlots bookingSchedules.createBooking'),
  'the lists by stage type show everybody of all jobs': words('jobCandidates.listByJob jobCandidates.listByStage'),
  'files belong to a job (section 4.4)': ['candidates.uploadResumes'],
  'a person decides it': words('jobCandidates.update jobCandidates.remove customFields.remove'),
  'only values that a mapping owns are emptied, one by one': ['customFieldValues.removeByEntity'],
  'it takes no reference of ours, so a lost answer could not be looked up': ['assessments.invite'],
  'credits are all or nothing: one person would make the others wait': ['onboarding.enrolBulk'],
};

const UNUSED = new Map(Object.entries(REASONS).flatMap(([why, ids]) => ids.map((id) => [id, why] as const)));

/** What calls each endpoint, by its id: found in the code, and in the list of streams. */
export function endpointUses(): Map<string, string[]> {
  const uses = new Map(allEndpoints().map(({ id }) => [id, new Set<string>()]));
  for (const name of pullNames)
    for (const endpoint of [pullStreams[name].list, pullStreams[name].fetch, pullStreams[name].parent?.list])
      if (endpoint !== undefined) uses.get(endpoint.id)?.add(`\`${name}\``);
  for (const file of globSync('{src,activities,workflows}/**/*.ts', { cwd: root }).toSorted()) {
    const flow = flowOf(file);
    if (flow === undefined) continue;
    const text = readFileSync(path.join(root, file), 'utf8');
    for (const [, section, name] of text.matchAll(/\b(?:contract|partner)\s*\.\s*(\w+)\s*\.\s*(\w+)/g))
      uses.get(`${section}.${name}`)?.add(flow);
  }
  return new Map([...uses].map(([id, flows]) => [id, [...flows].toSorted()]));
}

function flowOf(file: string): string | undefined {
  const known = FLOWS.find(([prefix]) => file.startsWith(prefix));
  return known === undefined ? file : known[1];
}

/** Endpoints that are neither called nor explained, or both; names of endpoints that there are none of. */
export function wrongReasons(): string[] {
  const uses = endpointUses();
  const unexplained = [...uses].filter(([id, flows]) => flows.length === 0 && !UNUSED.has(id));
  const used = [...UNUSED.keys()].filter((id) => (uses.get(id)?.length ?? 1) > 0);
  return [...unexplained.map(([id]) => id), ...used];
}

function eventRows(): string[] {
  return Object.entries(dispatch).map(([event, { hires, edited, streams = {}, nothing }]) => {
    const leads = [
      ...(hires === undefined && edited === undefined ? [] : ['hires']),
      ...Object.keys(streams).map((name) => `\`${name}\``),
    ];
    return `| \`${event}\` | ${leads.length === 0 ? `nothing: ${nothing ?? ''}` : leads.join(', ')} |`;
  });
}

function endpointRows(): string[] {
  const uses = endpointUses();
  return allEndpoints().map(({ id, method, path: at, section }) => {
    const flows = uses.get(id) ?? [];
    const by = flows.length === 0 ? `nothing: ${UNUSED.get(id) ?? ''}` : flows.join(', ');
    return `| ${section} | ${method} ${at} | ${by} |`;
  });
}

/** The page as it should be. */
export function streamsPage(): string {
  const events = eventRows();
  const endpoints = endpointRows();
  const idle = (rows: readonly string[]) => rows.filter((row) => row.includes('| nothing: ')).length;
  return [
    "# How the partner's API is used",
    '',
    'Written from the code by `node test/docs/partner-table.ts > docs/streams.md`; a test keeps it equal. Streams are',
    'named as in the tenant file. [Records that land](landing.md), [recruiting](recruiting.md), [data beside',
    'hires](hr-data.md) and [two-way exchange](two-way.md) say what each does.',
    '',
    '## Events',
    '',
    `${events.length} events, ${events.length - idle(events)} with an effect. hirebridge reads the record of a webhook`,
    'again, and never trusts the webhook itself.',
    '',
    '| event | leads to |',
    '|---|---|',
    ...events,
    '',
    '## Endpoints',
    '',
    `${endpoints.length} endpoints; ${endpoints.length - idle(endpoints)} are called.`,
    '',
    '| section | endpoint | called by |',
    '|---|---|---|',
    ...endpoints,
    '',
    '## Not done, because the API does not show it',
    '',
    '- No alarm reports a leaver who still owns open jobs: no field of a job names its owner. A job has a team, when',
    '  it is created and as a filter of the list (sections 2.2, 4.2); a user has teams and a manager (2.11), and an',
    '  assessment names its author (2.6). An open job of a team does not prove that one of its members is responsible.',
    '- Nobody is scored again because criteria changed: no list shows `criterionDetails` (2.2), and `job.updated` only',
    '  covers basic details. A person asks for it (`rescoring`).',
    '- No batch of resumes shows the outcome of each file (4.3); the addresses of the candidates read from it do.',
    '- No invitation is withdrawn, reset or repeated as a reminder: no endpoint does it (4.6). `sync --full` tries',
    '  once more for people whom the partner refused.',
    '- Answers and feedback of interviews do not land: a submission shows its id, status and reference (2.6), and',
    '  scores (4.6). Other fields that a partner shows can be mapped by name.',
    '',
  ].join('\n');
}

if (import.meta.main) process.stdout.write(streamsPage());
