import type { IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';

/** Bodies whose sender is known only once the body is complete. Together they may use a limited amount of memory. */
export interface UnjudgedBodies {
  /** Registers another body of this tenant. */
  enter(tenantId: string, request: IncomingMessage): UnjudgedBody;
}

export interface UnjudgedBody {
  /** Counts further bytes of the body. */
  grow(bytes: number): void;
  /** Aborts if others need its memory. */
  turnedOut: AbortSignal;
  leave(): void;
}

/** The cost of a body that has just begun: its socket and request. */
const PLACE_BYTES = 16_384;

interface Sender {
  bytes: number;
  /** Oldest first. */
  bodies: Set<{ bytes: number; turnOut: () => void }>;
}

/**
 * No sender is locked out: when memory runs out, the address that uses most of it for one tenant loses its oldest body.
 * An HR system sends quickly and is done in milliseconds, so the oldest body is one that trickles, even from the same
 * address.
 */
export function createUnjudgedBodies(mostBytes: number): UnjudgedBodies {
  const senders = new Map<string, Sender>();
  let held = 0;
  function makeRoom(): void {
    while (held > mostBytes) {
      const greediest = [...senders.values()].reduce((most, one) => (one.bytes > most.bytes ? one : most));
      const [oldest] = greediest.bodies;
      if (oldest === undefined) return;
      oldest.turnOut();
    }
  }
  return {
    enter(tenantId, request) {
      const name = `${tenantId} ${networkOf(request.socket.remoteAddress)}`;
      const sender = senders.get(name) ?? { bytes: 0, bodies: new Set() };
      senders.set(name, sender);
      const turningOut = new AbortController();
      const body = { bytes: 0, turnOut };
      const grow = (bytes: number): void => {
        if (!sender.bodies.has(body)) return;
        body.bytes += bytes;
        sender.bytes += bytes;
        held += bytes;
        makeRoom();
      };
      function leave(): void {
        if (!sender.bodies.delete(body)) return;
        sender.bytes -= body.bytes;
        held -= body.bytes;
        if (sender.bodies.size === 0) senders.delete(name);
      }
      function turnOut(): void {
        leave();
        turningOut.abort();
      }
      sender.bodies.add(body);
      grow(PLACE_BYTES);
      return { grow, leave, turnedOut: turningOut.signal };
    },
  };
}

/** An IPv4 address, or the network of an IPv6 address, since its owner has every address in it. */
function networkOf(address = ''): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  return parsed.kind() === 'ipv4' ? parsed.toString() : parsed.toByteArray().slice(0, 8).join('.');
}
