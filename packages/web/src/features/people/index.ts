export { peopleKept } from './kept.ts'
export { loadAuthorAside, loadRequestsAside } from './load-asides.tsx'
export { peopleNews } from './people-news.ts'
