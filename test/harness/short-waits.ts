import { scaled } from './pace.ts';

/** The waits of the product between two looks or tries, shortened. What ends a request keeps its usual bound. */
export const shortPauses: NodeJS.ProcessEnv = {
  HIREBRIDGE_PARTNER_LAG_MS: '200',
  HIREBRIDGE_STICKY_MS: '500',
  HIREBRIDGE_RETRY_MS: '200',
  HIREBRIDGE_PAUSED_MS: '1000',
  LOG_LEVEL: 'warn',
};

/**
 * Every wait of the product shortened, so that a killed worker's work resumes within seconds. On a slow machine those
 * that end a request are longer: a request that is sent again is counted twice.
 */
export const shortWaits: NodeJS.ProcessEnv = {
  ...shortPauses,
  HIREBRIDGE_HEARTBEAT_MS: String(scaled(1500)),
  HIREBRIDGE_GIVE_UP_MS: String(scaled(3000)),
  HIREBRIDGE_REQUEST_MS: String(scaled(1000)),
};
