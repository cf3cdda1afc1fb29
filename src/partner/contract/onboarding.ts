import { z } from 'zod';
import {
  defineEndpoint,
  errorsOf,
  invalidRequest,
  type ListShape,
  notFound,
  refusal,
  statusData,
  statusKeyedPage,
  valueAt,
  writeOutcome,
} from './endpoint.ts';
import {
  AnyObject,
  atLeastOne,
  CandidateId,
  Email,
  EpochTime,
  emailToSend,
  FlowId,
  JobCandidateId,
  JobId,
  LooseNumber,
  OnboardingCandidateId,
  openEnum,
  pathText,
  queryInteger,
  TextId,
  withId,
} from './shapes.ts';

export const overallStatuses = [
  'not_started',
  'in_progress',
  'partial_submission',
  'under_review',
  'final_handoff',
  'completed',
  'rejected',
  'failed',
  'terminated',
] as const;
/** Terminating one of these answers 409 ALREADY_TERMINAL (section 3). */
export const terminalStatuses = ['completed', 'rejected', 'failed', 'terminated'] as const;
export const stepKeys = ['doc_collection', 'pre_employment_medical_test', 'background_verification'] as const;
export const stepStatuses = ['pending', 'in_progress', 'submitted', 'verified', 'rejected'] as const;
export const offerStatuses = ['draft', 'in_progress', 'completed'] as const;
export const signerStatuses = ['pending', 'sent', 'opened', 'signed'] as const;

const OnboardingFlow = z
  .looseObject({
    flowId: FlowId,
    name: z.string().nullish(),
    status: z.string().nullish(),
    steps: z
      .array(
        z.looseObject({
          stepKey: openEnum(stepKeys),
          stepOrder: LooseNumber.nullish(),
          isActive: z.boolean().nullish(),
        }),
      )
      .nullish(),
    createdAt: EpochTime.nullish(),
    updatedAt: EpochTime.nullish(),
  })
  .meta({ id: 'OnboardingFlow' });

const OnboardingStep = z
  .looseObject({
    stepKey: openEnum(stepKeys),
    stepOrder: LooseNumber.nullish(),
    status: openEnum(stepStatuses),
    rejectionReason: z.string().nullish(),
    verifiedAt: EpochTime.nullish(),
  })
  .meta({ id: 'OnboardingStep' });

/** `stepProgress` is absent on list items; the external status stands at overrides.externalStatusAt (O12). */
export const OnboardingCandidate = z
  .looseObject({
    onboardingCandidateId: OnboardingCandidateId,
    flowId: FlowId.nullish(),
    overallStatus: openEnum(overallStatuses).nullish(),
    externalRef: z.string().nullish(),
    journeyUrl: z.string().nullish(),
    firstName: z.string().nullish(),
    lastName: z.string().nullish(),
    email: Email.nullish(),
    phoneNumber: z.string().nullish(),
    stepProgress: z.array(OnboardingStep).nullish(),
    enrolledAt: EpochTime.nullish(),
    metadata: AnyObject.nullish(),
    externalStatus: z.unknown().optional(),
  })
  .meta({ id: 'OnboardingCandidate' });
export type OnboardingCandidate = z.infer<typeof OnboardingCandidate>;

/** An entry of the bulk answer. */
const EnrolledCandidate = z
  .looseObject({
    onboardingCandidateId: OnboardingCandidateId,
    email: Email.nullish(),
    externalRef: z.string().nullish(),
    journeyUrl: z.string().nullish(),
  })
  .meta({ id: 'EnrolledCandidate' });

/** A document or a report; the fields of a report are not shown, so its id may be called otherwise (DOCUMENTS). */
const OnboardingDocument = z.preprocess(
  (one: unknown) => withId(one, 'documentId', ['reportId', 'id']),
  z
    .looseObject({
      documentId: TextId,
      name: z.string().nullish(),
      type: z.string().nullish(),
      stepKey: z.unknown().optional(),
      status: z.unknown().optional(),
      pdfUrl: z.string().nullish(),
    })
    .meta({ id: 'OnboardingDocument' }),
);

/** Reports may stand in a list of their own beside the documents (DOCUMENTS). */
function reportsAmongDocuments(body: unknown): unknown {
  const reports = valueAt(body, 'data.reports');
  const documents = valueAt(body, 'data.documents') ?? [];
  if (!Array.isArray(reports) || !Array.isArray(documents)) return body;
  const { data } = body as { data: object };
  const known = new Set(documents.map((one) => String(valueAt(one, 'documentId'))));
  const moved = reports.map((report) => {
    const id = valueAt(withId(report, 'documentId', ['reportId', 'id']), 'documentId');
    // Both may be counted from one.
    return known.has(String(id)) ? { ...report, documentId: `report:${String(id)}` } : report;
  });
  return { ...(body as object), data: { ...data, documents: [...documents, ...moved] } };
}

/** No compensation fields; the two URLs appear once completed. */
const Offer = z.preprocess(
  (one: unknown) => withId(one, 'offerId', ['id']),
  z
    .looseObject({
      offerId: TextId,
      status: openEnum(offerStatuses).nullish(),
      candidateId: CandidateId.nullish(),
      jobCandidateId: JobCandidateId.nullish(),
      jobId: JobId.nullish(),
      signers: z
        .array(
          z.looseObject({
            status: openEnum(signerStatuses).nullish(),
            openedAt: EpochTime.nullish(),
            signedAt: EpochTime.nullish(),
            signingOrder: LooseNumber.nullish(),
          }),
        )
        .nullish(),
      signedPdfUrl: z.string().nullish(),
      certificateUrl: z.string().nullish(),
    })
    .meta({ id: 'Offer' }),
);

export const EnrolmentInput = z
  .object({
    firstName: z.string().trim().min(1),
    lastName: z.string().trim().min(1),
    email: emailToSend(),
    phoneNumber: z.e164().optional(),
    externalRef: z.string().max(255).nullable().optional(),
    metadata: AnyObject.nullable().optional(),
  })
  .meta({ id: 'EnrolmentInput' });
export type EnrolmentInput = z.input<typeof EnrolmentInput>;

const pages = { page: queryInteger({ min: 1 }).default(1), limit: queryInteger({ min: 1, max: 100 }).default(20) };
const paging = {
  pageParam: 'page',
  firstPage: 1,
  sizeParam: 'limit',
  sizes: { max: 100 },
  end: { totalAt: 'data.pagination.total' },
} as const satisfies NonNullable<ListShape['paging']>;

const flowParams = z.object({ flowId: pathText() });
const candidateParams = z.object({ onboardingCandidateId: pathText() });
const unknownCandidate = notFound('onboarding candidate');
const badQuery = refusal('INVALID_REQUEST', 'page or limit out of range, or an unknown filter value');
const enrolErrors = errorsOf(
  refusal('INVALID_REQUEST', 'name or e-mail missing or invalid, externalRef over 255 characters'),
  notFound('onboarding flow'),
  refusal('DUPLICATE_ENROLLMENT', 'active enrollment with the same e-mail or externalRef in the flow'),
  refusal('INSUFFICIENT_ONBOARDING_CREDITS', 'details { requiredCredits, availableCredits }'),
);

export const onboarding = {
  listFlows: defineEndpoint({
    id: 'onboarding.listFlows',
    method: 'GET',
    path: '/onboarding/flows',
    section: '4.9',
    summary: 'List onboarding flows',
    query: z.object({ status: z.string().optional(), ...pages }),
    status: 200,
    envelope: 'status-data',
    response: statusKeyedPage('flows'),
    list: { itemsAt: 'data.flows', item: OnboardingFlow, idKey: 'flowId', paging },
    errors: errorsOf(badQuery),
    assumed: ['G9', 'O9', 'O15'],
  }),
  enrol: defineEndpoint({
    id: 'onboarding.enrol',
    method: 'POST',
    path: '/onboarding/flows/:flowId/candidates',
    section: '4.9',
    summary: 'Enrol a candidate; costs one onboarding credit',
    params: flowParams,
    body: EnrolmentInput,
    status: 201,
    envelope: 'status-data',
    response: statusData(OnboardingCandidate),
    errors: enrolErrors,
    costsCredit: true,
    assumed: ['O1', 'O4', 'O8', 'O9', 'O10', 'O13'],
  }),
  enrolBulk: defineEndpoint({
    id: 'onboarding.enrolBulk',
    method: 'POST',
    path: '/onboarding/flows/:flowId/candidates/bulk',
    section: '4.9',
    summary: 'Enrol 1 to 100 candidates, all or none',
    params: flowParams,
    body: z.object({ candidates: z.array(EnrolmentInput).min(1).max(100) }),
    status: 201,
    envelope: 'status-data',
    response: statusKeyedPage('enrolled', 'candidates'),
    list: { itemsAt: 'data.enrolled', item: EnrolledCandidate, idKey: 'onboardingCandidateId' },
    errors: enrolErrors,
    costsCredit: true,
    assumed: ['O1', 'O3', 'O4', 'O5', 'O7', 'O8', 'O13'],
  }),
  getCandidate: defineEndpoint({
    id: 'onboarding.getCandidate',
    method: 'GET',
    path: '/onboarding/candidates/:onboardingCandidateId',
    section: '4.9',
    summary: 'Get an onboarding candidate with steps and external status',
    params: candidateParams,
    status: 200,
    envelope: 'status-data',
    response: statusData(OnboardingCandidate),
    errors: errorsOf(unknownCandidate),
    assumed: ['O12', 'O16'],
  }),
  listCandidates: defineEndpoint({
    id: 'onboarding.listCandidates',
    method: 'GET',
    path: '/onboarding/candidates',
    section: '4.9',
    summary: 'List onboarding candidates, without steps',
    query: z.object({
      externalRef: z.string().optional(),
      flowId: z.string().optional(),
      status: z.enum(overallStatuses).optional(),
      ...pages,
    }),
    status: 200,
    envelope: 'status-data',
    response: statusKeyedPage('candidates', 'onboardingCandidates'),
    list: { itemsAt: 'data.candidates', item: OnboardingCandidate, idKey: 'onboardingCandidateId', paging },
    errors: errorsOf(badQuery),
    assumed: ['G9', 'G12', 'O6', 'PAGES'],
  }),
  listDocuments: defineEndpoint({
    id: 'onboarding.listDocuments',
    method: 'GET',
    path: '/onboarding/candidates/:onboardingCandidateId/documents',
    section: '4.9',
    summary: 'Documents and reports with fresh URLs',
    params: candidateParams,
    query: z.object({ type: z.string().optional() }),
    status: 200,
    envelope: 'status-data',
    response: z.preprocess(reportsAmongDocuments, statusKeyedPage('documents')),
    list: { itemsAt: 'data.documents', item: OnboardingDocument, idKey: 'documentId' },
    errors: errorsOf(unknownCandidate),
    assumed: ['DOCUMENTS', 'G12', 'G24'],
  }),
  getDocument: defineEndpoint({
    id: 'onboarding.getDocument',
    method: 'GET',
    path: '/onboarding/candidates/:onboardingCandidateId/documents/:documentId',
    section: '4.9',
    summary: 'One document with a fresh URL',
    params: candidateParams.extend({ documentId: pathText() }),
    status: 200,
    envelope: 'status-data',
    response: statusData(OnboardingDocument),
    errors: errorsOf(notFound('onboarding candidate or document')),
    assumed: ['DOCUMENTS', 'G24'],
  }),
  setExternalStatus: defineEndpoint({
    id: 'onboarding.setExternalStatus',
    method: 'PATCH',
    path: '/onboarding/candidates/:onboardingCandidateId/external-status',
    section: '4.9',
    summary: "Store your system's status and Employee ID on the enrollment",
    params: candidateParams,
    body: atLeastOne(z.object({ status: z.string().min(1).optional(), employeeId: z.string().min(1).optional() })).meta(
      {
        id: 'ExternalStatusInput',
      },
    ),
    status: 200,
    envelope: 'status-data',
    response: writeOutcome(OnboardingCandidate),
    errors: errorsOf(invalidRequest, unknownCandidate),
    assumed: ['O2', 'O12'],
  }),
  terminate: defineEndpoint({
    id: 'onboarding.terminate',
    method: 'POST',
    path: '/onboarding/candidates/:onboardingCandidateId/terminate',
    section: '4.9',
    summary: 'End an enrollment',
    params: candidateParams,
    body: z.object({ reason: z.string().optional() }),
    bodyOptional: true,
    status: 200,
    envelope: 'status-data',
    response: writeOutcome(OnboardingCandidate),
    errors: errorsOf(invalidRequest, unknownCandidate, refusal('ALREADY_TERMINAL', 'enrollment is terminal')),
    assumed: ['O11', 'O16'],
  }),
  listOffers: defineEndpoint({
    id: 'onboarding.listOffers',
    method: 'GET',
    path: '/onboarding/offers',
    section: '4.9',
    summary: 'List offer documents',
    query: z.object({
      jobCandidateId: queryInteger({ min: 1 }).optional(),
      candidateId: queryInteger({ min: 1 }).optional(),
      jobId: queryInteger({ min: 1 }).optional(),
      status: z.enum(offerStatuses).optional(),
      ...pages,
    }),
    status: 200,
    envelope: 'status-data',
    response: statusKeyedPage('offers', 'offerDocuments'),
    list: { itemsAt: 'data.offers', item: Offer, idKey: 'offerId', idAlso: 'id', paging },
    errors: errorsOf(badQuery),
    assumed: ['G9', 'G12', 'O14', 'OFFERS', 'PAGES'],
  }),
  getOffer: defineEndpoint({
    id: 'onboarding.getOffer',
    method: 'GET',
    path: '/onboarding/offers/:offerId',
    section: '4.9',
    summary: 'An offer document with its signers',
    params: z.object({ offerId: pathText() }),
    status: 200,
    envelope: 'status-data',
    response: statusData(Offer),
    errors: errorsOf(notFound('offer')),
    assumed: ['G24', 'O14', 'OFFERS'],
  }),
};
