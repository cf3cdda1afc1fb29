import { z } from 'zod';
import { duration } from '../hris/option-types.ts';
import { landingSection } from '../hris/sql/sql.ts';
import { Overrides } from '../partner/contract/assumptions.ts';
import { stageTypes } from '../partner/contract/pipelines.ts';
import { everyStream, landings } from '../streams/streams.ts';
import { secretRef } from './secrets.ts';
import { events, interval, notify, settingsOf, timezone, unknownNames } from './sections.ts';

/** Enrolment states a hire may wait for. Rejected, failed and terminated never lead to an employee. */
const READY_STATUSES = [
  'not_started',
  'in_progress',
  'partial_submission',
  'under_review',
  'final_handoff',
  'completed',
] as const;

const DOCUMENT_KINDS = ['resume', 'onboarding', 'offers', 'medical', 'consent'] as const;
export type DocumentKind = (typeof DOCUMENT_KINDS)[number];

const SHARE = 'expected a share above 0 and at most 1, such as 0.5';

const identifier = z
  .string('expected 1 to 40 letters a to z, digits and -; write a number in quotes')
  .regex(/^[a-z0-9-]{1,40}$/, 'expected 1 to 40 letters a to z, digits and -');
const text = z.string('expected text; write a number in quotes').trim().min(1, 'expected text that is not empty');
/**
 * Stage types in capitals, or stage ids as numbers. A mistyped stage is refused, because it would match nobody and no
 * hire would ever start.
 */
const stage = z
  .union([text, z.int().positive()], 'expected a stage type such as HIRED, or a stage id')
  .transform((value) => String(value).toUpperCase())
  .refine(
    (value) => /^\d+$/.test(value) || stageTypes.some((type) => type === value),
    `expected a stage id or one of ${stageTypes.join(', ')}`,
  );
const stages = z
  .array(stage, 'expected a list such as [HIRED]')
  .min(1, 'expected at least one stage type or stage id')
  .default(['HIRED']);

/** How to reach the hiring platform, and how it reaches us. */
export const partnerSection = z
  .strictObject({
    baseUrl: z
      .url({ protocol: /^https?$/, error: 'expected the partner address, https://.../v1/partner' })
      .transform((url) => url.replace(/\/+$/, ''))
      .refine((url) => url.endsWith('/v1/partner'), 'expected an address that ends in /v1/partner')
      .refine((url) => !/\/\/[^/]*@/.test(url), 'expected an address without a user or password'),
    environment: z.enum(['production', 'sandbox'], 'expected production or sandbox'),
    apiKey: secretRef,
    /** The partner's company id, compared with the companyId of webhooks. */
    company: text.optional(),
    webhookKeys: z
      .array(secretRef, 'expected a list such as [env:ACME_WEBHOOK_KEY]')
      .max(2, 'expected at most two keys: the current one and the one being rotated')
      .default([]),
    webhooks: z.enum(['on', 'off'], 'expected on or off').default('on'),
    allowPrivateAddress: z.boolean('expected true or false').default(false),
    /** Highest share of the company's rate limit that hirebridge uses, because other clients call the partner too. */
    rateLimit: z.strictObject({ share: z.number(SHARE).gt(0, SHARE).max(1, SHARE) }).optional(),
    /** Settles points that the specification leaves open; see src/partner/contract/assumptions.ts. */
    overrides: Overrides.partial().default({}),
  })
  .refine(({ webhooks, webhookKeys }) => webhooks === 'off' || webhookKeys.length > 0, {
    path: ['webhookKeys'],
    error:
      'expected one or two webhook keys, because anyone could send webhooks otherwise; or write "webhooks: off" to ' +
      'rely on the reconcile alone',
  })
  .refine(({ baseUrl, allowPrivateAddress }) => !baseUrl.startsWith('http:') || allowPrivateAddress, {
    path: ['baseUrl'],
    error:
      'expected https, because the key would travel in clear; write "allowPrivateAddress: true" for a local sandbox',
  })
  .superRefine(({ overrides }, context) => {
    for (const issue of unknownNames(overrides)) context.addIssue(issue);
  });

const values = z.array(text, 'expected a list').min(1, 'expected at least one');

const scope = z
  .strictObject({
    /** Job ids. */
    jobs: values.optional(),
    /** Countries as the partner writes them. */
    countries: values.optional(),
    /** Team ids. */
    teams: values.optional(),
    /** A custom field of jobs, by its label or id. */
    customField: z.strictObject({ name: text, values }).optional(),
  })
  .refine(
    (criteria) => Object.values(criteria).filter((criterion) => criterion !== undefined).length === 1,
    'expected exactly one of jobs, countries, teams and customField',
  );

const onboarding = z.union(
  [
    z.literal('skip'),
    z.strictObject({
      flow: text,
      readyAt: z
        .array(z.enum(READY_STATUSES, `expected one of ${READY_STATUSES.join(', ')}`))
        .min(1)
        .default(['final_handoff', 'completed']),
      deadline: duration.default(30 * 86_400_000),
    }),
  ],
  'expected "skip" or { flow, readyAt, deadline }',
);

/** The time zone that decides which day is today for a tenant; undefined for UTC. */
export function timezoneOf({ policies, notify }: Pick<Tenant, 'policies' | 'notify'>): string | undefined {
  return policies.timezone ?? notify?.timezone;
}

export const retention = z.strictObject({
  /** How long the store keeps a hire's plans once the hire is over. */
  plans: duration.default(30 * 86_400_000),
  /**
   * How long after that the store still knows, without values, what was written of people who are no employees, and
   * when.
   */
  writes: duration.default(180 * 86_400_000),
});

/** mark: only marks the landed rows. ask: a person decides. erase: erases as `person erase` does. */
const privacyPolicy = z.enum(['mark', 'ask', 'erase'], 'expected mark, ask or erase').default('mark');

const policies = z.strictObject({
  enrolAt: stages,
  createAt: stages,
  onboarding,
  identity: z
    .strictObject({
      /** What to do if the HR system has a person of the same name and one of the two lacks a birth date. */
      sameName: z.enum(['ask', 'create'], 'expected ask or create').default('ask'),
    })
    .prefault({}),
  /** How far in the past an employment may begin before a person is asked. */
  startDate: z.strictObject({ past: duration.default(30 * 86_400_000) }).prefault({}),
  /** Time zone that decides which day is today. Defaults to the one of `notify`, else to UTC. */
  timezone: timezone.optional(),
  /** How long after the first day a person who leaves the stage counts as a possible no-show; later nobody is asked. */
  noShow: z.strictObject({ within: duration.default(3 * 86_400_000) }).prefault({}),
  reconcile: z.strictObject({ every: interval.default(300_000) }).prefault({}),
  /** How long the HR system may take to make an employee after it accepted the create; then a person is asked. */
  pendingDeadline: duration.default(14 * 86_400_000),
  cancel: z.strictObject({ grace: duration.default(3_600_000) }).prefault({}),
  changeLimits: z
    .strictObject({
      cancellationsPerHour: z.int().min(0).default(3),
      /** Most people that `privacy` may erase per hour. Beyond that, a person decides about all of them. */
      erasuresPerHour: z.int().min(0).default(10),
    })
    .prefault({}),
  credits: z.strictObject({ canaryEvery: interval.default(900_000) }).prefault({}),
  retention: retention.prefault({}),
  privacy: z
    .strictObject({
      /** The partner deleted the candidate. */
      gone: privacyPolicy,
      /** The person withdrew their consent, or it expired; the stream `consents` reports both. */
      withdrawn: privacyPolicy,
      expired: privacyPolicy,
    })
    .prefault({}),
});

const writeBack = z
  .strictObject({
    employeeId: z
      .enum(['number', 'id'], 'expected number (the employee number) or id (the internal key)')
      .default('number'),
    status: text.default('hired'),
    /** Status written for a person who left. */
    leftStatus: text.default('left'),
    customField: text.optional(),
    /** Id of a candidate custom field that takes the address of the employee in the HR system. */
    employeeUrl: text.optional(),
    /** Id of a candidate custom field that shows why the hire is held. It is emptied when the hire goes on. */
    holdReason: text.optional(),
    values: z.array(z.strictObject({ customFieldId: text, field: text })).default([]),
  })
  .prefault({});

/** Fields whose later changes at the partner also go to employees. A field named in both lists is applied. */
const amendments = z
  .strictObject({
    /** A person decides about changes of these fields. */
    ask: z.array(text, 'expected a list of fields').optional(),
    /** Changes of these fields are written without asking, unless the HR system was edited too. */
    apply: z.array(text, 'expected a list of fields').default([]),
  })
  .optional();

/** How requisitions become jobs. */
const requisitions = z.strictObject({
  /** Id of the job custom field, of type text, that carries the requisition's id. */
  reference: text,
  /** Job custom fields that hold fields of the requisition, now and later. */
  values: z.array(z.strictObject({ customFieldId: text, field: text })).default([]),
  /** A person is asked if one run would make more jobs than this. */
  atOnce: z.int().min(1).default(20),
});

/** Select fields of the partner that take their options from a list of the HR system. */
const options = z
  .array(
    z.strictObject({
      /** Id of a custom field of type select or multi-select. */
      customField: text,
      /** The list's name in the HR system's kind, such as `departments`. */
      list: text,
    }),
    'expected a list such as [{ customField: ID, list: departments }]',
  )
  .min(1, 'expected at least one, or no "options" at all')
  .refine(
    (sets) => new Set(sets.map(({ customField }) => customField)).size === sets.length,
    'expected each custom field once: it can have the options of one list only',
  );

const NO_NEXT_STAGE: ReadonlySet<string> = new Set(['SOURCED', 'APPLIED', 'HIRED']);

const OF_ONE = 'expected either "assessment" or "flow" in a rule';
const isOfOne = ({ assessment, flow }: { assessment?: string | undefined; flow?: number | undefined }): boolean =>
  (assessment === undefined) !== (flow === undefined);

/** Which candidates are invited to which assessment, or assigned to which assessment flow. */
const invitations = z.strictObject({
  rules: z
    .array(
      z
        .strictObject({
          on: z.strictObject({
            /** Stage, by type or id, whose candidates are invited. */
            stage,
            /** Job ids that the rule is limited to; all jobs if absent. */
            jobs: values.optional(),
          }),
          assessment: text.optional(),
          flow: z.int().positive().optional(),
          /** Stage, by type or id, to which a candidate moves after completing the flow. */
          moveTo: stage
            .refine(
              (value) => !NO_NEXT_STAGE.has(value),
              'expected a stage before hiring: nobody is moved back, and only a person hires',
            )
            .optional(),
        })
        .refine(isOfOne, OF_ONE)
        .refine(({ flow, moveTo }) => moveTo === undefined || flow !== undefined, {
          path: ['moveTo'],
          error: 'expected "flow" beside it: only people who complete a flow are moved',
        }),
      'expected a list of rules',
    )
    .min(1, 'expected at least one rule'),
  /** A person is asked if one run would invite more than this. */
  atOnce: z.int().min(1).default(20),
});

const jobId = text.regex(/^\d+$/, 'expected the id of a job in quotes, such as "1001"');

/** Which leads of which campaigns become candidates of which job. */
const sourcing = z.strictObject({
  rules: z
    .array(
      z.strictObject({
        on: z.strictObject({
          campaign: text,
          /** Lead statuses, in the partner's words, that the rule is limited to; all if absent. */
          statuses: values.optional(),
        }),
        job: jobId,
      }),
      'expected a list of rules',
    )
    .min(1, 'expected at least one rule'),
  /** Where the date of the lead's consent goes. A lead without consent is left alone. */
  consent: z.strictObject({
    /** Id of a candidate custom field, of type date or text. */
    customField: text,
  }),
  /** Country of phone numbers that lack a country code, such as DE. */
  country: z
    .string()
    .regex(/^[A-Z]{2}$/, 'expected a country such as DE')
    .optional(),
  /** A person is asked if one run would take more than this. */
  atOnce: z.int().min(1).default(20),
});

/**
 * The values of an interview, or of a person on a flow, that a rule may take: the lists show these besides identity
 * (section 2.6).
 */
const TAKEN = {
  assessment: ['score', 'bucket', 'bucketStatus', 'cefrLevel', 'interviewStatus'],
  flow: ['status', 'currentStep'],
} as const;

/** Which results go into which custom fields of the candidate. */
const results = z
  .array(
    z
      .strictObject({
        assessment: text.optional(),
        flow: z.int().positive().optional(),
        take: z.enum([...TAKEN.assessment, ...TAKEN.flow]),
        /** Id of a candidate custom field. */
        customField: text,
      })
      .refine(isOfOne, OF_ONE)
      .refine(({ flow, take }) => TAKEN[flow === undefined ? 'assessment' : 'flow'].some((one) => one === take), {
        path: ['take'],
        error: `expected ${TAKEN.assessment.join(', ')} of an assessment, ${TAKEN.flow.join(' or ')} of a flow`,
      }),
    'expected a list such as [{ assessment: ID, take: score, customField: ID }]',
  )
  .min(1, 'expected at least one, or no "results" at all')
  .refine(
    (rules) => new Set(rules.map(({ customField }) => customField)).size === rules.length,
    'expected each custom field once: it can have the results of one assessment or flow only',
  );

/** How files that the customer lists become candidates. */
const resumes = z
  .strictObject({
    /** Public address of `serve`. Files need it; addresses do not. */
    publicUrl: z.url({ protocol: /^https?$/, error: 'expected the address of `serve`, https://...' }).optional(),
    /** A person is asked if one run would send more than this. */
    atOnce: z.int().min(1).default(200),
  })
  .prefault({});

/** Systems that give each hired person an account, once the employee exists. */
const destinations = z
  .array(
    // As in `hris`, the adapter's own schema checks the settings of its kind.
    z.looseObject({ kind: text, connection: identifier, mapping: text }),
    'expected a list such as [{ kind: scim, connection: NAME, url: ..., token: env:NAME, mapping: ./accounts.yaml }]',
  )
  .min(1, 'expected at least one, or no "destinations" at all');

/** Documents of a hire that are copied into the employee's record. */
const documents = z
  .array(z.enum(DOCUMENT_KINDS, `expected some of ${DOCUMENT_KINDS.join(', ')}`), 'expected a list such as [resume]')
  .min(1, 'expected at least one, or no "documents" at all');

/**
 * One tenant file. Settings of the HRIS kind stand beside `kind` and `connection`; the adapter's own schema checks
 * them.
 */
export const tenantFile = z
  .strictObject({
    tenant: identifier,
    /** observe: reads and plans everything but writes nothing on either side. */
    mode: z.enum(['live', 'observe'], 'expected live or observe').default('live'),
    partner: partnerSection,
    /** Which jobs the tenant takes; all jobs if absent. */
    scope: scope.optional(),
    hris: z.looseObject({
      kind: text,
      connection: identifier,
    }),
    /** Where records land, if not in the HR system itself. */
    landing: landingSection(landings).optional(),
    mapping: text.optional(),
    policies,
    streams: z.strictObject(everyStream(settingsOf)).prefault({}),
    writeBack,
    amendments,
    requisitions: requisitions.optional(),
    invitations: invitations.optional(),
    sourcing: sourcing.optional(),
    results: results.optional(),
    resumes,
    options: options.optional(),
    documents: documents.optional(),
    destinations: destinations.optional(),
    notify: notify.optional(),
    events,
  })
  .refine(({ policies, writeBack }) => policies.onboarding !== 'skip' || writeBack.customField !== undefined, {
    path: ['writeBack', 'customField'],
    error:
      'expected the id of a candidate custom field, because without onboarding there is no enrolment that could take ' +
      'the Employee ID',
  });

export type TenantFile = z.output<typeof tenantFile>;

/** One customer as loaded. Durations are in ms. Secrets are still references; see resolveSecret. */
export interface Tenant extends Omit<TenantFile, 'hris' | 'destinations'> {
  hris: {
    kind: string;
    /** Name of the HR system's connection. Tenants with the same connection share claims and links. */
    connection: string;
    /** Checked by the adapter. Text values may still be references to secrets; see openTenantHris. */
    options: Record<string, unknown>;
  };
  /** Further systems that give each hire an account, in this order. */
  destinations?: Destination[] | undefined;
  /** Set only for a destination: the tenant's main HR system, where the employee was made first. */
  madeIn?: Tenant['hris'];
  /** Settings of each stream; paths of mapping files are absolute. */
  streams: TenantFile['streams'];
  /** Absolute path of the tenant's mapping file; undefined means the adapter's default alone. */
  mapping?: string;
  /** The tenant file's path. */
  file: string;
  /** Texts of the tenant file and of every file its mappings use, by absolute path. */
  files: Readonly<Record<string, string>>;
  /** SHA-256 over the parsed file and its mapping files; changes when the meaning changes, not with comments. */
  configHash: string;
}

/** A further system of a tenant, with its own kind, connection and mapping. */
type Destination = Tenant['hris'] & { mapping: string };

/**
 * Stages in which a person counts as hired: those that enrol them and those that make their employee. A person who
 * skips the former, or has moved on to the latter, is hired all the same.
 */
export function hiringStagesOf({ policies }: { policies: Pick<Tenant['policies'], 'enrolAt' | 'createAt'> }): string[] {
  return [...new Set([...policies.enrolAt, ...policies.createAt])];
}
