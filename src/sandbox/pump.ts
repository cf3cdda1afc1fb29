import { Agent, request } from 'undici';
import { runDueTasks } from './background.ts';
import { companyById } from './records/companies.ts';
import {
  type Delivery,
  type DeliveryOutcome,
  nextDeliveryAt,
  reviveDeliveries,
  settleDelivery,
  takeDueDeliveries,
} from './records/deliveries.ts';
import { nextTaskAt } from './records/tasks.ts';
import type { SandboxState } from './state.ts';

/** A receiver that takes longer has failed this attempt. */
const ATTEMPT_TIMEOUT_MS = 10_000;
const MAX_IN_FLIGHT = 64;

export interface DeliveryLog {
  event: string;
  companyId: number;
  attempt: number;
  outcome: 'delivered' | 'waiting' | 'dropped';
  status?: number | undefined;
}

/** Runs background tasks and sends webhooks when they are due by the sandbox's clock. */
export function startPump(
  state: SandboxState,
  onDelivery?: (entry: DeliveryLog) => void,
): { stop: () => Promise<void> } {
  const agent = new Agent({ connections: MAX_IN_FLIGHT, keepAliveTimeout: 4000 });
  const inFlight = new Set<Promise<void>>();
  let cancelTimer: (() => void) | undefined;
  let stopped = false;
  const wake = onceSoon(turn);

  function turn(): void {
    if (stopped) return;
    cancelTimer?.();
    runDueTasks(state);
    for (const delivery of takeDueDeliveries(state, MAX_IN_FLIGHT - inFlight.size)) {
      const sending = attempt(delivery).finally(() => {
        inFlight.delete(sending);
        wake();
      });
      inFlight.add(sending);
    }
    const next = nextDue(state, inFlight.size < MAX_IN_FLIGHT);
    cancelTimer = next === Infinity ? undefined : state.clock.at(next, wake);
  }

  async function attempt(delivery: Delivery): Promise<void> {
    const outcome = await sendDelivery(state, agent, delivery);
    // Left as under way: the next start with this state makes the attempt again.
    if (stopped) return;
    const entry = settled(state, delivery, outcome);
    onDelivery?.(entry);
  }

  reviveDeliveries(state);
  state.onEvents = wake;
  wake();
  return {
    async stop() {
      stopped = true;
      state.onEvents = undefined;
      cancelTimer?.();
      await agent.destroy();
      await Promise.all(inFlight);
    },
  };
}

/** Runs it once, however often asked, after the answer of the call that caused it (E11). */
function onceSoon(run: () => void): () => void {
  let planned = false;
  return () => {
    if (planned) return;
    planned = true;
    setImmediate(() => {
      planned = false;
      run();
    });
  };
}

/** When the pump has something to do next. */
function nextDue(state: SandboxState, hasRoom: boolean): number {
  return Math.min(nextTaskAt(state) ?? Infinity, (hasRoom ? nextDeliveryAt(state) : undefined) ?? Infinity);
}

function settled(state: SandboxState, delivery: Delivery, given: DeliveryOutcome): DeliveryLog {
  const { event, companyId } = delivery;
  const outcome = settleDelivery(state, delivery, given);
  return { event, companyId, attempt: delivery.attempt + 1, outcome, status: given.status };
}

const ANSWER_CHARS = 2000;

/** As much of the receiver's answer as the page shows; the rest is not waited for. */
async function beginningOf(body: AsyncIterable<Buffer>): Promise<string> {
  let text = '';
  for await (const chunk of body) {
    text += chunk.toString('utf8');
    if (text.length >= ANSWER_CHARS) return text.slice(0, ANSWER_CHARS);
  }
  return text;
}

/** One POST as section 6 describes it, to the company's present URL with its present key. */
async function sendDelivery(state: SandboxState, agent: Agent, delivery: Delivery): Promise<DeliveryOutcome> {
  const company = companyById(state, delivery.companyId);
  if (company === undefined || company.webhookUrl === null) return { error: 'NO_URL' };
  try {
    const { statusCode, body } = await request(company.webhookUrl, {
      method: 'POST',
      dispatcher: agent,
      headersTimeout: ATTEMPT_TIMEOUT_MS,
      bodyTimeout: ATTEMPT_TIMEOUT_MS,
      headers: {
        'content-type': 'application/json',
        'x-webhook-event': delivery.event,
        'x-webhook-timestamp': delivery.stamp,
        'x-webhook-key': company.webhookKey ?? '',
      },
      body: delivery.body,
    });
    return { status: statusCode, answer: await beginningOf(body) };
  } catch (error) {
    return { error: error instanceof Error && 'code' in error ? String(error.code) : 'FAILED' };
  }
}
