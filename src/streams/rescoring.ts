/** A person's request: `hirebridge sync TENANT rescoring --one JOB`. */
export interface RescoreAsk {
  jobId: string;
  /** Seconds by the database's clock; each request is one run. */
  askedAt: number;
}

/** The request as a hint, in a form that no partner id has. */
export function hintOfAsk({ jobId, askedAt }: RescoreAsk): string {
  return `job ${jobId} at ${askedAt}`;
}

/** Undefined if the hint is no such request. */
export function askIn(hint: string): RescoreAsk | undefined {
  const [, jobId, at] = /^job (\S+) at (\d+)$/.exec(hint) ?? [];
  return jobId === undefined ? undefined : { jobId, askedAt: Number(at) };
}
