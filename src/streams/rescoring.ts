/** What a person asks for by `hirebridge sync TENANT rescoring --one JOB`. */
export interface RescoreAsk {
  jobId: string;
  /** Seconds, by the database's clock: each ask is one run. */
  askedAt: number;
}

/** As a hint, which no id of the partner looks like. */
export function hintOfAsk({ jobId, askedAt }: RescoreAsk): string {
  return `job ${jobId} at ${askedAt}`;
}

/** Undefined where a hint is none. */
export function askIn(hint: string): RescoreAsk | undefined {
  const [, jobId, at] = /^job (\S+) at (\d+)$/.exec(hint) ?? [];
  return jobId === undefined ? undefined : { jobId, askedAt: Number(at) };
}
