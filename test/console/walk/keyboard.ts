import type { Locator, Page } from 'playwright-core';

/** Somebody without a mouse: they reach things by Tab, and press keys. */
export interface Hands {
  page: Page;
  /** Goes to it by Tab and presses Enter. What is not reached that way fails. */
  press(what: Locator): Promise<void>;
  /** Goes to it by Tab, and replaces what stands there. */
  type(what: Locator, text: string): Promise<void>;
  /** Goes to a choice by Tab and presses the space bar. */
  tick(what: Locator): Promise<void>;
}

/** Nothing on a page is further away than this. */
const MOST_TABS = 250;

export function handsOf(page: Page): Hands {
  const reach = async (what: Locator): Promise<void> => {
    await what.waitFor();
    for (let tabs = 0; tabs < MOST_TABS; tabs += 1) {
      if (await what.evaluate((one) => one === one.ownerDocument.activeElement)) return;
      await page.keyboard.press('Tab');
    }
    throw new Error(`Tab does not lead to ${String(what)} on ${page.url()}`);
  };
  return {
    page,
    async press(what) {
      await reach(what);
      await page.keyboard.press('Enter');
    },
    async type(what, text) {
      await reach(what);
      await page.keyboard.press('ControlOrMeta+a');
      await page.keyboard.insertText(text);
    },
    async tick(what) {
      await reach(what);
      await page.keyboard.press('Space');
    },
  };
}
