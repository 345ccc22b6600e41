// The body of a list: whether more items follow, at the very end of the list.
import { expect, it } from "vitest";
import { envelope } from "../../src/api/view.ts";

it.each([
  [1, 4, true],
  [2, 4, false],
  [2, 5, true],
  [3, 4, false],
  [1, 0, false],
])("page %i of %i items, two per page, has more: %s", (page, total, more) => {
  const body = envelope({ items: ["a"], total }, { page, page_size: 2 }, (item) => item);
  expect(body).toEqual({ items: ["a"], total, page, page_size: 2, has_more: more });
});
