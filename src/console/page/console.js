// Keeps what stands in `data-live` up to date, and finds while somebody types. The pages work without it.
const SOONEST_MS = 3_000;
const LATEST_MS = 60_000;
const TYPING_MS = 250;

let waitMs = SOONEST_MS;

/** Many pages that are open share what the store can bear: a page that is refused asks less often from then on. */
async function refresh() {
  const parts = [...document.querySelectorAll('[data-live]')];
  if (parts.length === 0) return;
  if (!document.hidden && !parts.some(isInUse)) await replaceAll(parts);
  setTimeout(refresh, waitMs * (0.8 + Math.random() * 0.4));
}

async function replaceAll(parts) {
  const answer = await ask(location.href);
  if (answer === undefined) return;
  waitMs = Math.max(SOONEST_MS, waitMs * 0.8);
  const next = new DOMParser().parseFromString(answer, 'text/html');
  for (const part of parts) {
    const fresh = next.getElementById(part.id);
    // Somebody may have begun to use it while the answer came.
    if (fresh === null || isInUse(part) || fresh.innerHTML === part.innerHTML) continue;
    replace(part, fresh);
  }
  say('');
}

/** The page anew; undefined where it does not come, and then it is said why. */
async function ask(address) {
  const options = { headers: { 'x-hirebridge-refresh': '1' }, signal: AbortSignal.timeout(20_000) };
  const answer = await fetch(address, options).catch(() => undefined);
  if (answer?.ok === true) return answer.text();
  waitMs = Math.min(LATEST_MS, waitMs * 2);
  if (answer?.status === 429) return undefined;
  if (answer?.status === 401) say('You are signed out. Load the page again to sign in.', true);
  else say('The console does not answer. What you see may be out of date.', true);
  return undefined;
}

/** Nothing is replaced under somebody's hands: a field with text in it, a choice that was made, or where the focus is. */
function isInUse(part) {
  const typed = [...part.querySelectorAll('input:not([type=hidden]):not([type=checkbox]), textarea')];
  if (typed.some((input) => input.value !== input.defaultValue)) return true;
  const ticked = [...part.querySelectorAll('input[type=checkbox]')];
  if (ticked.some((input) => input.checked !== input.defaultChecked)) return true;
  return part.contains(document.activeElement) && !document.activeElement.matches('.scroll');
}

/** A table that is scrolled by keyboard stays where it is. */
function replace(part, fresh) {
  const before = part.contains(document.activeElement) ? document.activeElement : undefined;
  const open = new Set([...part.querySelectorAll('details[open]')].map(({ id }) => id));
  part.replaceChildren(...fresh.childNodes);
  for (const details of part.querySelectorAll('details')) details.open ||= open.has(details.id);
  const name = before?.getAttribute('aria-label');
  const same = [...part.querySelectorAll('.scroll')].find((one) => one.getAttribute('aria-label') === name);
  if (before === undefined || same === undefined) return;
  same.focus({ preventScroll: true });
  same.scrollLeft = before.scrollLeft;
}

/** Said only when it changes, so that a screen reader is not told every time. */
function say(text, isBad = false) {
  const health = document.getElementById('health');
  if (health.textContent === text) return;
  health.textContent = text;
  health.className = isBad ? 'bad' : '';
}

/** A search shows what it finds while somebody types; its address says the same, so that it can be kept. */
function findWhileTyping(input) {
  let timer;
  input.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(async () => {
      const mine = timer;
      const address = new URL(input.form.action);
      for (const [name, value] of new FormData(input.form)) if (value !== '') address.searchParams.set(name, value);
      const answer = await fetch(address).then(
        (found) => (found.ok ? found.text() : undefined),
        () => undefined,
      );
      if (answer === undefined || mine !== timer) return;
      const fresh = new DOMParser().parseFromString(answer, 'text/html').getElementById(input.dataset.finds);
      const part = document.getElementById(input.dataset.finds);
      if (fresh === null || part === null) return;
      history.replaceState(null, '', address);
      part.replaceChildren(...fresh.childNodes);
      // For a screen reader.
      document.getElementById('found').textContent = part.querySelector('.found').textContent;
    }, TYPING_MS);
  });
}

/** What was done or refused comes with a new page, where a screen reader says only what has the focus. */
function sayWhatWasDone() {
  const told = document.querySelector('main > .notice');
  if (told === null) return;
  told.tabIndex = -1;
  told.focus({ preventScroll: true });
}

sayWhatWasDone();
for (const input of document.querySelectorAll('[data-finds]')) findWhileTyping(input);
setTimeout(refresh, waitMs * (0.5 + Math.random()));
