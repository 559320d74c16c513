export { feedNews } from './feed-news.ts'
export { askForNewest } from './feed-query.ts'
export { feedKept } from './kept.ts'
