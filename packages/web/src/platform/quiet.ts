import { whenIdle } from './when-idle.ts'

/** Resolves when the page has loaded what it shows and has nothing to do, or after a few seconds. */
export async function quiet(): Promise<void> {
  if (document.readyState !== 'complete')
    await new Promise((resolve) => addEventListener('load', resolve, { once: true }))
  await new Promise<void>((resolve) => whenIdle(resolve, 3000))
}
