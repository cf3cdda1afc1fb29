/** Sections 2.9 to 2.11, 4.9 to 4.11, 5. */
import type { Literal } from './literal.ts';

const enrolled = {
  onboardingCandidateId: 'onb_1',
  flowId: 'flow_1',
  overallStatus: 'not_started',
  externalRef: 'hire-9001',
  journeyUrl: 'https://journey.example.org/secret',
  stepProgress: [
    { stepKey: 'doc_collection', stepOrder: 1, status: 'pending', rejectionReason: null, verifiedAt: null },
  ],
  enrolledAt: 1767600000000,
  metadata: null,
};
const person = { firstName: 'Mara', lastName: 'Lim', email: 'mara.lim@example.org' };
const user = {
  id: 'usr_1',
  email: 'rae@example.org',
  firstName: 'Rae',
  lastName: 'Tan',
  status: 'ACTIVE',
  role: 'Recruiter',
  isCompanyAdmin: false,
  invitedById: null,
  teamId: 'team_1',
  teamIds: ['team_1'],
  reportingManagerId: null,
};
const campaign = {
  id: 31,
  title: 'Reminder',
  status: 'RUNNING',
  purposeType: 'ASSESSMENT_REMINDER',
  timezone: 'Asia/Manila',
  companySiteId: 3,
  accessLevel: 'COMPANY',
  createdAt: '2026-01-05T08:00:00.000Z',
  updatedAt: '2026-01-05T08:00:00.000Z',
  callSettings: { callType: 'AICall', aiCallScript: 'Hello' },
};
const newCampaign = {
  title: 'Reminder',
  timezone: 'Asia/Manila',
  companySiteId: 3,
  phoneNumber: '+639170000001',
  openingMessage: 'Hello',
  closingMessage: 'Goodbye',
  purposeType: 'ASSESSMENT_REMINDER',
};

export const onboardingAndWorkspaceLiterals: readonly Literal[] = [
  {
    id: 'onboarding flows',
    operation: 'onboarding.listFlows',
    request: { method: 'GET', path: '/onboarding/flows', query: { page: '1', limit: '100' } },
    response: {
      status: 200,
      body: {
        status: 'success',
        data: {
          flows: [
            {
              flowId: 'flow_1',
              name: 'Nurses',
              status: 'ACTIVE',
              steps: [{ stepKey: 'doc_collection', stepOrder: 1, isActive: true }],
              createdAt: 1767600000000,
              updatedAt: 1767600000000,
            },
          ],
          pagination: { page: 1, limit: 100, total: 1, totalPages: 1 },
        },
      },
    },
  },
  {
    id: 'a candidate enrolled',
    operation: 'onboarding.enrol',
    request: {
      method: 'POST',
      path: '/onboarding/flows/flow_1/candidates',
      body: { ...person, phoneNumber: '+6591234567', externalRef: 'hire-9001', metadata: { job: 'Nurse' } },
    },
    response: { status: 201, body: { status: 'success', data: enrolled } },
  },
  {
    id: 'a candidate enrolled twice',
    operation: 'onboarding.enrol',
    request: { method: 'POST', path: '/onboarding/flows/flow_1/candidates', body: person },
    response: {
      status: 409,
      body: { error: { code: 'DUPLICATE_ENROLLMENT', type: 'conflict_error', message: 'Already enrolled' } },
    },
  },
  {
    id: 'no onboarding credits for all',
    operation: 'onboarding.enrolBulk',
    request: {
      method: 'POST',
      path: '/onboarding/flows/flow_1/candidates/bulk',
      body: { candidates: [person, { ...person, email: 'second@example.org' }] },
    },
    response: {
      status: 402,
      body: {
        error: {
          code: 'INSUFFICIENT_ONBOARDING_CREDITS',
          type: 'payment_error',
          message: 'Not enough onboarding credits',
          details: { requiredCredits: 2, availableCredits: 1 },
        },
      },
    },
  },
  {
    id: 'candidates enrolled in bulk',
    operation: 'onboarding.enrolBulk',
    request: { method: 'POST', path: '/onboarding/flows/flow_1/candidates/bulk', body: { candidates: [person] } },
    response: {
      status: 201,
      body: {
        status: 'success',
        data: {
          enrolled: [
            {
              onboardingCandidateId: 'onb_1',
              email: 'mara.lim@example.org',
              externalRef: null,
              journeyUrl: 'https://journey.example.org/secret',
            },
          ],
        },
      },
    },
  },
  {
    id: 'an onboarding candidate with the status given back',
    operation: 'onboarding.getCandidate',
    request: { method: 'GET', path: '/onboarding/candidates/onb_1' },
    response: {
      status: 200,
      body: { status: 'success', data: { ...enrolled, externalStatus: { status: 'ACTIVE', employeeId: 'E-100' } } },
    },
  },
  {
    id: 'an unknown onboarding candidate',
    operation: 'onboarding.getCandidate',
    request: { method: 'GET', path: '/onboarding/candidates/none' },
    response: { status: 404, body: { error: { code: 'NOT_FOUND', type: 'not_found', message: 'Not found' } } },
  },
  {
    id: 'onboarding candidates without steps',
    operation: 'onboarding.listCandidates',
    request: { method: 'GET', path: '/onboarding/candidates', query: { externalRef: 'hire-9001' } },
    response: {
      status: 200,
      body: {
        status: 'success',
        data: {
          candidates: [{ onboardingCandidateId: 'onb_1', flowId: 'flow_1', overallStatus: 'in_progress' }],
          pagination: { page: 1, limit: 20, total: 1, totalPages: 1 },
        },
      },
    },
  },
  {
    id: 'the Employee ID written back',
    operation: 'onboarding.setExternalStatus',
    request: {
      method: 'PATCH',
      path: '/onboarding/candidates/onb_1/external-status',
      body: { status: 'ACTIVE', employeeId: 'E-100' },
    },
    response: {
      status: 200,
      body: { status: 'success', data: { ...enrolled, externalStatus: { status: 'ACTIVE', employeeId: 'E-100' } } },
    },
  },
  {
    id: 'an enrollment ended without a body',
    operation: 'onboarding.terminate',
    request: { method: 'POST', path: '/onboarding/candidates/onb_1/terminate' },
    response: { status: 200, body: { status: 'success', data: { ...enrolled, overallStatus: 'terminated' } } },
  },
  {
    id: 'an enrollment that had ended',
    operation: 'onboarding.terminate',
    request: { method: 'POST', path: '/onboarding/candidates/onb_2/terminate', body: {} },
    response: {
      status: 409,
      body: { error: { code: 'ALREADY_TERMINAL', type: 'conflict_error', message: 'Already terminal' } },
    },
  },
  {
    id: 'a signed offer',
    operation: 'onboarding.getOffer',
    request: { method: 'GET', path: '/onboarding/offers/offer_1' },
    response: {
      status: 200,
      body: {
        status: 'success',
        data: {
          offerId: 'offer_1',
          status: 'completed',
          candidateId: 501,
          jobCandidateId: 9001,
          signers: [{ status: 'signed', openedAt: 1767600000000, signedAt: 1767603600000, signingOrder: 1 }],
          signedPdfUrl: 'https://files.example.org/offer.pdf',
          certificateUrl: 'https://files.example.org/certificate.pdf',
        },
      },
    },
  },
  {
    id: 'campaigns without a status wrapper',
    operation: 'campaigns.list',
    request: { method: 'GET', path: '/campaigns', query: { purposeType: 'ASSESSMENT_REMINDER' } },
    response: {
      status: 200,
      body: { campaigns: [campaign], pagination: { page: 1, limit: 20, total: 1, totalPages: 1 } },
    },
  },
  {
    id: 'a new campaign',
    operation: 'campaigns.create',
    request: { method: 'POST', path: '/campaigns', body: newCampaign },
    response: { status: 200, body: { campaign } },
  },
  {
    id: 'a campaign with an unknown key',
    operation: 'campaigns.create',
    request: { method: 'POST', path: '/campaigns', body: { ...newCampaign, color: 'red' } },
    response: {
      status: 400,
      body: { error: { code: 'INVALID_REQUEST', type: 'validation_error', message: 'Unknown key' } },
    },
    badRequest: true,
  },
  {
    id: 'active and invited users',
    operation: 'users.list',
    request: { method: 'GET', path: '/users', query: { status: 'ACTIVE,INVITED', isCompanyAdmin: 'false' } },
    response: {
      status: 200,
      body: { status: 'success', data: [user], pagination: { page: 1, perPage: 20, total: 1 } },
    },
  },
  {
    id: 'an unknown user, in the flat body',
    operation: 'users.get',
    request: { method: 'GET', path: '/users/none' },
    response: {
      status: 404,
      body: { statusCode: 404, code: 'NOT_FOUND', type: 'not_found', errorMessage: 'User not found' },
    },
  },
  {
    id: 'teams',
    operation: 'teams.list',
    request: { method: 'GET', path: '/teams' },
    response: {
      status: 200,
      body: {
        status: 'success',
        data: [{ id: 'team_1', name: 'Care', createdAt: 1767600000000, createdBy: null, userCount: 4 }],
      },
    },
  },
  {
    id: 'a key that is not accepted',
    operation: 'teams.list',
    request: { method: 'GET', path: '/teams' },
    response: { status: 401, body: { message: 'Invalid API key' } },
  },
  {
    id: 'an inactive subscription',
    operation: 'teams.get',
    request: { method: 'GET', path: '/teams/team_1' },
    response: { status: 403, body: { code: 'ACCOUNT_INACTIVE', message: 'Subscription is inactive' } },
  },
];
