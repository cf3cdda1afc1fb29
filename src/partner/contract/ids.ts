/**
 * Ids of answers that are easily mixed up, each a text type of its own: a job candidate's id where a candidate's is
 * asked for would be found, and be somebody else's.
 */
import type { z } from 'zod';
import { IntegerId, TextId } from './shapes.ts';

export const CandidateId = IntegerId.brand<'CandidateId'>();
export type CandidateId = z.output<typeof CandidateId>;

export const JobId = IntegerId.brand<'JobId'>();
export type JobId = z.output<typeof JobId>;

export const JobCandidateId = IntegerId.brand<'JobCandidateId'>();
export type JobCandidateId = z.output<typeof JobCandidateId>;

export const PipelineId = IntegerId.brand<'PipelineId'>();
export type PipelineId = z.output<typeof PipelineId>;

export const StageId = IntegerId.brand<'StageId'>();
export type StageId = z.output<typeof StageId>;

export const CustomFieldId = TextId.brand<'CustomFieldId'>();
export type CustomFieldId = z.output<typeof CustomFieldId>;

export const FlowId = TextId.brand<'FlowId'>();
export type FlowId = z.output<typeof FlowId>;

export const OnboardingCandidateId = TextId.brand<'OnboardingCandidateId'>();
export type OnboardingCandidateId = z.output<typeof OnboardingCandidateId>;
