export type PageLanguage = 'en' | 'de'

const longestHeader = 1000

/** The first language of `Accept-Language` that the pages speak, by preference; English when there is none. */
export function pageLanguage(acceptLanguage: string | undefined): PageLanguage {
  const wishes = (acceptLanguage ?? '').slice(0, longestHeader).split(',').map(parseWish)
  // `sort` is stable: of equal weights the one named first is preferred.
  const sorted = wishes.filter(({ weight }) => weight > 0).sort((a, b) => b.weight - a.weight)
  const spoken = sorted.find(({ primary }) => primary === 'de' || primary === 'en')
  return spoken?.primary === 'de' ? 'de' : 'en'
}

function parseWish(wish: string): { primary: string; weight: number } {
  const [tag = '', ...parameters] = wish.split(';').map((part) => part.trim().toLowerCase())
  const weightText = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2)
  const weight = weightText === undefined ? 1 : Number(weightText)
  return { primary: tag.split('-')[0] ?? '', weight: Number.isFinite(weight) ? weight : 0 }
}
