import type { Context } from '../../context.ts';
import { effect } from '../../context.ts';
import { invalidRequest, notFound, refuse } from '../../errors.ts';
import { emailKey, findCandidate } from '../candidates/candidates.ts';
import { findJobCandidate } from '../job-candidates/job-candidates.ts';
import type { Assessment } from './assessments.ts';

export interface Invite {
  id: number;
  assessmentId: string;
  email: string;
  firstName: string | null;
  lastName: string | null;
  jobCandidateId: number | null;
  externalRef: string | null;
  invitedAt: number;
}

/** Whom to invite: a job candidate, or a person by name and e-mail. */
export interface Invitee {
  jobCandidateId?: number | undefined;
  firstName?: string | undefined;
  lastName?: string | undefined;
  emailAddress?: string | undefined;
  externalRef?: string | null | undefined;
}

export interface Person {
  email: string;
  firstName: string | null;
  lastName: string | null;
  jobCandidateId: number | null;
}

export const INVITE = `select id, assessment_id as assessmentId, email, first_name as firstName, last_name as lastName,
  job_candidate_id as jobCandidateId, external_ref as externalRef, invited_at as invitedAt from assessment_invites`;

/** Who is meant; jobCandidateId wins over names (A8, assumed). 404 for an unknown job candidate. */
export function personOf(ctx: Context, invitee: Invitee): Person {
  if (invitee.jobCandidateId !== undefined) {
    const { candidateId } = findJobCandidate(ctx, invitee.jobCandidateId);
    const { email, firstName, lastName } = findCandidate(ctx, candidateId);
    return { email: emailKey(email), firstName, lastName, jobCandidateId: invitee.jobCandidateId };
  }
  return {
    email: emailKey(invitee.emailAddress ?? ''),
    firstName: invitee.firstName ?? null,
    lastName: invitee.lastName ?? null,
    jobCandidateId: null,
  };
}

/** Invites one person. The same e-mail is the same person, invited by id or by name (A7, assumed). */
export function invite(ctx: Context, assessment: Assessment, invitee: Invitee): Invite {
  refuseInactive(assessment);
  const person = personOf(ctx, invitee);
  if (inviteOf(ctx, assessment.id, person.email) !== undefined)
    throw refuse('DUPLICATE_INVITE', 'The candidate has been invited already');
  return writeInvite(ctx, assessment.id, person, invitee.externalRef ?? null);
}

/** A6, assumed: nobody is invited to an INACTIVE assessment. */
export function refuseInactive(assessment: Assessment): void {
  if (assessment.status !== 'ACTIVE')
    throw invalidRequest('The assessment is not active', { assessmentId: `is ${assessment.status}` });
}

export function inviteOf(ctx: Context, assessmentId: string, email: string): Invite | undefined {
  return ctx.state.one<Invite>(`${INVITE} where assessment_id = ? and email = ?`, assessmentId, emailKey(email));
}

/** 404 when unknown or another company's. */
export function inviteById(ctx: Context, id: number): Invite {
  const found = ctx.state.one<Invite>(`${INVITE} where id = ? and company_id = ?`, id, ctx.company.id);
  if (found === undefined) throw notFound('Invitation');
  return found;
}

/** The link goes out by e-mail and is never returned (section 4.6). */
export function writeInvite(ctx: Context, assessmentId: string, person: Person, externalRef: string | null): Invite {
  const id = ctx.state.nextId('assessment-invite');
  ctx.state.run(
    `insert into assessment_invites (id, company_id, assessment_id, email, first_name, last_name, job_candidate_id,
      external_ref, invited_at)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    id,
    ctx.company.id,
    assessmentId,
    person.email,
    person.firstName,
    person.lastName,
    person.jobCandidateId,
    externalRef,
    ctx.now,
  );
  effect(ctx, 'invite', id, { assessmentId });
  return ctx.state.one<Invite>(`${INVITE} where id = ?`, id) as Invite;
}
