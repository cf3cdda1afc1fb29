import type { Process } from '../../harness/world.ts';
import { forget, pass } from '../pull.ts';
import type { Peer, Place } from './peer.ts';

/** The product itself, with a worker that is started anew where a kill took it. */
export function openOwn({ opened }: Place, worker: Process): Peer {
  let own = worker;
  return {
    name: 'hirebridge',
    table: 'partner_candidates',
    id: 'partner_id',
    forget: () => forget(opened),
    start: async () => ({
      ended: pass(opened).then(({ seconds }) => seconds),
      async kill() {
        await own.kill();
        own = await opened.world.startWorker();
      },
    }),
  };
}
