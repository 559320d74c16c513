import type { Browser } from 'playwright-core'
import { desk, phone } from '../harness/windows.ts'
import { Device } from './device.ts'
import type { Cast } from './stage.ts'

const inHand = { viewport: phone, isMobile: true, hasTouch: true }

/** The devices of all who appear, with nothing open yet. */
export async function openCast(browser: Browser): Promise<Cast> {
  const anna = await Device.open(browser, 'Anna', { viewport: desk })
  const ben = await Device.open(browser, 'Ben', inHand)
  const bensLaptop = await Device.open(browser, 'Ben’s laptop', { viewport: desk })
  const guest = await Device.open(browser, 'A guest', inHand)
  return { anna, ben, bensLaptop, guest }
}

export async function endCast(cast: Cast): Promise<void> {
  for (const device of Object.values(cast)) await device.close()
}
