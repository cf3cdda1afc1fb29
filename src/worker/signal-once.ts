import type { SignalHire } from '../../activities/deps.ts';

/**
 * Sends each different signal once, however often it is asked for. Right for deliveries that were all stored before the
 * first signal leaves: a hint says "read again", and one reading after the last of them answers them all. A move into
 * Hired is two events, an onboarding that ends is five.
 */
export function signalOnce(signalHire: SignalHire): SignalHire {
  const sent = new Map<string, Promise<boolean>>();
  return (hire, about, options) => {
    const key = JSON.stringify([hire.tenantId, hire.jobCandidateId, about, options]);
    const known = sent.get(key) ?? signalHire(hire, about, options);
    sent.set(key, known);
    return known;
  };
}
