export { communitiesKey } from './communities-keys.ts'
export { communitiesNews } from './communities-news.ts'
export { loadCommunitiesAside } from './load-communities-aside.ts'
export { loadWaitingRequests } from './load-waiting-requests.ts'
