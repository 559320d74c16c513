import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Device } from '../packages/web/test/story/device.ts'

const style = `
body { margin: 2rem auto; max-width: 80rem; padding-inline: 1rem; font: 1rem/1.5 system-ui, sans-serif; }
section { margin-block-end: 3rem; }
div { display: flex; flex-wrap: wrap; gap: 1.5rem; align-items: flex-start; }
figure { margin: 0; }
img { display: block; max-height: 36rem; max-width: 100%; border: 1px solid #999; border-radius: 0.5rem; }
`

const whenPicturesShow = `Promise.all([...document.images].map((image) => {
  const { top, bottom } = image.getBoundingClientRect()
  return top < innerHeight && bottom > 0 && image.decode().catch(() => undefined)
}))`

/** The pictures of the steps of a story, on one page. */
export class Report {
  readonly #folder: string
  readonly #sections: string[] = []

  constructor(folder: string) {
    this.#folder = folder
  }

  /** Takes a picture of each device on which something has been opened. */
  async add(title: string, devices: readonly Device[]): Promise<void> {
    const at = this.#sections.length + 1
    const figures: string[] = []
    for (const { name, page } of devices.filter(({ loads }) => loads > 0)) {
      await page.evaluate(whenPicturesShow)
      const file = `${String(at).padStart(2, '0')}-${name.replaceAll(/\W+/g, '-').toLowerCase()}.png`
      await page.screenshot({ path: join(this.#folder, file), animations: 'disabled' })
      const alt = `${title}, as ${name} sees it`
      figures.push(
        `<figure><img src="${file}" alt="${escaped(alt)}"><figcaption>${escaped(name)}</figcaption></figure>`,
      )
    }
    this.#sections.push(`<section><h2>${at}. ${escaped(title)}</h2><div>${figures.join('')}</div></section>`)
  }

  /** Writes the page; answers where. */
  async write(): Promise<string> {
    const path = join(this.#folder, 'index.html')
    const head = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Two servers</title><style>${style}</style>`
    await writeFile(path, `${head}<h1>Two people on two servers</h1>${this.#sections.join('\n')}`)
    return path
  }
}

function escaped(text: string): string {
  return text.replaceAll(/[&<>"]/g, (char) => `&#${char.charCodeAt(0)};`)
}
