CREATE TABLE schema_version (version INTEGER NOT NULL PRIMARY KEY);
CREATE TABLE service (name VARCHAR(64) NOT NULL PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE surveys (
  id VARCHAR(32) NOT NULL PRIMARY KEY, document TEXT NOT NULL, owner_hash VARCHAR(64) NOT NULL,
  created DATE NOT NULL, closed BOOLEAN NOT NULL, received INTEGER NOT NULL
);
CREATE TABLE submissions (
  survey VARCHAR(32) NOT NULL REFERENCES surveys (id), submission {bytes} NOT NULL, batch INTEGER NOT NULL,
  reports {bytes} NOT NULL, PRIMARY KEY (survey, submission)
) {without_rowid};
CREATE INDEX submissions_by_batch ON submissions (survey, batch);
CREATE TABLE days (
  survey VARCHAR(32) NOT NULL REFERENCES surveys (id), day DATE NOT NULL, received INTEGER NOT NULL,
  PRIMARY KEY (survey, day)
);
CREATE TABLE tallies (
  survey VARCHAR(32) NOT NULL REFERENCES surveys (id), questions TEXT NOT NULL, batches INTEGER NOT NULL,
  counts {bytes} NOT NULL, PRIMARY KEY (survey, questions)
);
INSERT INTO schema_version VALUES (1);
