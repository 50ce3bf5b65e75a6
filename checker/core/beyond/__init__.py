"""The same search where its states outgrow memory: on disk, with duplicates found late."""
