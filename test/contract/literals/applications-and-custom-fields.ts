/** Sections 2.4, 2.5, 4.4, 4.5. */
import type { Literal } from './literal.ts';

const definition = {
  id: 'cf_9',
  entityType: 'candidate',
  fieldLabel: 'Start date',
  fieldType: 'date',
  options: null,
  description: 'First working day',
  parentSection: 'Miscellaneous',
  createdAt: '2026-01-05T08:00:00.000Z',
  updatedAt: '2026-01-05T08:00:00.000Z',
};

const value = {
  id: 44,
  customFieldId: 'cf_9',
  entityType: 'candidate',
  entityId: '501',
  parentEntityType: null,
  parentEntityId: null,
  value: '2026-03-01',
};

export const applicationAndCustomFieldLiterals: readonly Literal[] = [
  {
    id: 'an application with consent',
    operation: 'jobCandidates.getApplication',
    request: { method: 'GET', path: '/job-candidates/9001/application' },
    response: {
      status: 200,
      body: {
        status: 'success',
        data: {
          jobCandidateId: 9001,
          jobId: 301,
          candidateId: 501,
          appliedAt: 1767686400000,
          candidate: { firstName: 'Mara', lastName: 'Lim', email: 'mara.lim@example.org', phone: null },
          currentJobTitle: 'Nurse',
          company: 'City Hospital',
          resumeUrl: null,
          noticePeriod: '30 days',
          isWillingToRelocate: false,
          expectedCTC: 52000,
          currencyExpectedCTC: 'USD',
          expectedCTCPeriod: 'YEARLY',
          currentCTC: null,
          currencyCurrentCTC: null,
          currentCTCPeriod: null,
          gender: null,
          dateOfBirth: '1992-04-11',
          nationality: 'Singaporean',
          screeningQuestionAnswer: [{ question: 'When can you start?', answer: 'In March' }],
          otherFiles: [{ name: 'licence.pdf', url: 'https://files.example.org/licence.pdf' }],
          consent: {
            acceptedAt: 1767686400000,
            policyVersion: '2025-1',
            consentDocumentUrl: 'https://files.example.org/dpa.pdf',
            expiresAt: 1830758400000,
          },
        },
      },
    },
  },
  {
    id: 'no application through the hosted page',
    operation: 'jobCandidates.getApplication',
    request: { method: 'GET', path: '/job-candidates/9002/application' },
    response: {
      status: 409,
      body: { error: { code: 'NO_APPLICATION', type: 'conflict_error', message: 'No application' } },
    },
  },
  {
    id: 'a consent document',
    operation: 'jobCandidates.getConsentDocument',
    request: { method: 'GET', path: '/job-candidates/9001/application/consent-document' },
    response: {
      status: 200,
      body: {
        status: 'success',
        data: {
          jobCandidateId: 9001,
          document: {
            name: 'DPA acknowledgment',
            category: 'dpa_acknowledgment',
            policyVersion: '2025-1',
            acceptedAt: 1767686400000,
            pdfUrl: 'https://files.example.org/dpa.pdf',
            expiresAt: 1830758400000,
          },
        },
      },
    },
  },
  {
    id: 'no consent record',
    operation: 'jobCandidates.getConsentDocument',
    request: { method: 'GET', path: '/job-candidates/9003/application/consent-document' },
    response: {
      status: 409,
      body: { error: { code: 'NO_CONSENT_RECORD', type: 'conflict_error', message: 'No consent record' } },
    },
  },
  {
    id: 'custom fields of candidates',
    operation: 'customFields.list',
    request: { method: 'GET', path: '/custom-fields', query: { entityType: 'candidate' } },
    response: { status: 200, body: { status: 'success', data: [definition] } },
  },
  {
    id: 'custom fields of an entity type that does not exist',
    operation: 'customFields.list',
    request: { method: 'GET', path: '/custom-fields', query: { entityType: 'user' } },
    response: {
      status: 400,
      body: { error: { code: 'INVALID_REQUEST', type: 'validation_error', message: 'Invalid entityType' } },
    },
    badRequest: true,
  },
  {
    id: 'a new custom field, with a message',
    operation: 'customFields.create',
    request: {
      method: 'POST',
      path: '/custom-fields',
      body: { entityType: 'candidate', fieldLabel: 'Start date', fieldType: 'date', parentSection: 'Miscellaneous' },
    },
    response: {
      status: 200,
      body: { status: 'success', message: 'Custom field created successfully', data: definition },
    },
  },
  {
    id: 'a select without options',
    operation: 'customFields.create',
    request: {
      method: 'POST',
      path: '/custom-fields',
      body: { entityType: 'job', fieldLabel: 'Level', fieldType: 'select', options: [] },
    },
    response: {
      status: 400,
      body: { error: { code: 'INVALID_REQUEST', type: 'validation_error', message: 'Options are required' } },
    },
    badRequest: true,
  },
  {
    id: 'an unknown custom field',
    operation: 'customFields.get',
    request: { method: 'GET', path: '/custom-fields/cf_none' },
    response: {
      status: 404,
      body: { error: { code: 'CUSTOM_FIELD_NOT_FOUND', type: 'resource_error', message: 'Custom field not found' } },
    },
  },
  {
    id: 'values of a candidate',
    operation: 'customFieldValues.list',
    request: { method: 'GET', path: '/custom-field-values', query: { entityType: 'candidate', entityId: '501' } },
    response: { status: 200, body: { status: 'success', data: [value] } },
  },
  {
    id: 'a value set',
    operation: 'customFieldValues.upsert',
    request: {
      method: 'POST',
      path: '/custom-field-values',
      body: { customFieldId: 'cf_9', entityType: 'candidate', entityId: 501, value: '2026-03-01' },
    },
    response: { status: 200, body: { status: 'success', data: value } },
  },
  {
    id: 'a nested value of a work experience',
    operation: 'customFieldValues.upsert',
    request: {
      method: 'POST',
      path: '/custom-field-values',
      body: {
        customFieldId: 'cf_10',
        entityType: 'candidate',
        entityId: 501,
        parentEntityType: 'work_experience',
        parentEntityId: 'we_1',
        value: true,
      },
    },
    response: {
      status: 200,
      body: {
        status: 'success',
        data: {
          ...value,
          id: 45,
          customFieldId: 'cf_10',
          parentEntityType: 'work_experience',
          parentEntityId: 'we_1',
          value: true,
        },
      },
    },
  },
  {
    id: 'values set in bulk, a multi-select stored as JSON text',
    operation: 'customFieldValues.upsertBulk',
    request: {
      method: 'POST',
      path: '/custom-field-values/bulk',
      body: [{ customFieldId: 'cf_11', entityType: 'candidate', entityId: 501, value: ['A', 'B'] }],
    },
    response: {
      status: 200,
      body: { status: 'success', data: [{ ...value, id: 46, customFieldId: 'cf_11', value: '["A","B"]' }] },
    },
  },
  {
    id: 'values of an entity deleted',
    operation: 'customFieldValues.removeByEntity',
    request: { method: 'DELETE', path: '/custom-field-values/entity/candidate/501' },
    response: { status: 200, body: { status: 'success', message: 'Custom field values deleted' } },
  },
];
