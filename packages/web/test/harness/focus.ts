import type { Locator, Page } from 'playwright-core'

/** The text of what has the focus; empty where nothing has it. */
export function focusedText(page: Page): Promise<string> {
  const text = `document.activeElement === document.body ? '' : document.activeElement.textContent`
  return page.evaluate(text) as Promise<string>
}

/** Whether an element has the focus; false where it is not there. */
export async function isFocused(target: Locator): Promise<boolean> {
  const all = await target.evaluateAll((elements) =>
    elements.map((element) => element === element.ownerDocument.activeElement),
  )
  return all.length === 1 && all[0] === true
}

/** Types as fast as people do, however busy the machine is: keys that belong together do so for a second. */
export async function typeQuickly(page: Page, text: string): Promise<void> {
  await Promise.all([...text].map((key) => page.keyboard.press(key)))
}
