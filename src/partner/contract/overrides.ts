/**
 * The assumed names a tenant's configuration may replace, as data. Schemas in the contract use the default names; the
 * client renames what it sends and reads by this table, so that no other room knows of a tenant's variant.
 */
import { z } from 'zod';

const name = z.string().min(1);

export const Overrides = z.strictObject({
  /** S3, G21: path of the read-only key-status endpoint, relative to the base URL. */
  keyStatusPath: z.templateLiteral(['/', z.string()]).default('/api-key/status'),
  /** O2: body keys of PATCH external-status. */
  externalStatusBody: z
    .strictObject({ status: name.default('status'), employeeId: name.default('employeeId') })
    .prefault({}),
  /** O12: dotted path in the onboarding candidate where the two are given back under the same keys. */
  externalStatusAt: name.default('externalStatus'),
  /** O11: body key of the reason of terminate; null sends no body. */
  terminateReason: name.nullable().default('reason'),
  /** 2.4: key of the job candidate that names its stage, by id or by type; not shown, so none. */
  jobCandidateStageField: name.nullable().default(null),
  /** C3: the answer to an e-mail conflict on candidate update; `either` takes 400 and 409 alike. */
  emailConflict: z.enum(['400', '409', 'either']).default('either'),
  /** F3: key that wraps the array of the bulk upsert; null sends the bare array. */
  valuesBulkKey: name.nullable().default(null),
  /** CONSENT: codes of the consent document that say of a consent shown before that it was withdrawn; [] for none. */
  consentWithdrawn: z.array(name).default(['NO_CONSENT_RECORD']),
  /** K18: whether expiresAt of the consent document is the day of the consent; false where it is that of its link. */
  consentExpires: z.boolean().default(true),
  /**
   * Query parameters under another name: operation id to { name in the contract: name on the wire }, for example
   * `{ 'jobCandidates.listByStageType': { stageType: 'type' } }` (K1, O6, O14).
   */
  queryNames: z.record(z.string(), z.record(z.string(), name)).default({}),
  /**
   * Keys of a body, and of the records in its lists, under another name: operation id to { name in the contract: name
   * on the wire }, for example `{ 'campaigns.addLeads': { phone: 'phoneNumber' } }` (A3, B2, K10, M1).
   */
  bodyNames: z.record(z.string(), z.record(z.string(), name)).default({}),
  /**
   * Lists whose pages this partner counts from another number: operation id to the number of its first page, for
   * example `{ 'jobCandidates.listByStageType': 0 }` (PAGES).
   */
  firstPages: z.record(z.string(), z.union([z.literal(0), z.literal(1)])).default({}),
  /**
   * Fields of listed records under another name: operation id to { name in the contract: dotted path on the wire }, for
   * example `{ 'assessments.listCandidates': { score: 'result.overallScore' } }` (SUBMISSION, L5, BOOKING, M1).
   */
  fieldNames: z.record(z.string(), z.record(z.string(), name)).default({}),
});
export type Overrides = z.infer<typeof Overrides>;

export const defaultOverrides: Overrides = Overrides.parse({});
