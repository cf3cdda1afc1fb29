import type { SandboxState } from '../../state.ts';

/** Where the company of an address stands, by the kind of page: whoever has the address needs no API key. */
const OWNERS = {
  assessment: 'select company_id as id from assessments where id = ?',
  book: 'select company_id as id from booking_links where token = ?',
  journey: "select company_id as id from onboarding_candidates where journey_url = '/journey/' || ?",
  sign: 'select company_id as id from offers where id = ?',
};
export type HostedKind = keyof typeof OWNERS;

export function ownerOf(state: SandboxState, kind: HostedKind, key: string): number | undefined {
  return state.one<{ id: number }>(OWNERS[kind], key)?.id;
}
