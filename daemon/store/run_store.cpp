// The parts that are the same for every kind of store.
#include "daemon/store/run_store.hpp"

#include "daemon/store/records/record_format.hpp"

namespace mcpbx::daemon::store {

result<std::vector<stored::run_record>> run_store::records(std::int64_t id) {
  std::vector<stored::run_record> all;
  auto done = read_run(id, [&](const record_text& r) -> result<void> {
    const auto which = "record " + std::to_string(all.size());
    if (r.seq != static_cast<std::int64_t>(all.size())) return fail(errc::parse, which + " of the run is missing");
    auto one = stored::record_from(r.text);
    if (!one) return fail(errc::parse, which + ": " + one.error().message);
    all.push_back(std::move(*one));
    return {};
  });
  if (!done) return std::unexpected(std::move(done.error()));
  return all;
}

std::vector<run_place> run_store::places_of(std::span<run_batch* const> batches) {
  std::vector<run_place> all;
  all.reserve(batches.size());
  for (const auto* b : batches) all.push_back(*b->place);
  return all;
}

void run_store::take_back(std::span<run_batch* const> batches, std::vector<run_place> before) {
  // Go backwards, since a run may be in the group more than once.
  for (std::size_t i = batches.size(); i-- > 0;) {
    auto& place = *batches[i]->place;
    if (before[i].id == 0 && place.id != 0) before[i].tried_id = place.id, before[i].tried_ms = batches[i]->at_ms;
    place = std::move(before[i]);
  }
}

std::unexpected<error> run_store::was_deleted(std::string_view session) const {
  return fail(errc::io,
              "the session " + std::string(session) + " was deleted from " + name() + " a moment ago; begin a new one");
}

std::unexpected<error> run_store::went_on(std::string_view session) const {
  return fail(errc::unavailable, "the session " + std::string(session) + " went on elsewhere a moment ago, as " +
                                     name() + " says; ask again, and the run begins with what was added");
}

}  // namespace mcpbx::daemon::store
