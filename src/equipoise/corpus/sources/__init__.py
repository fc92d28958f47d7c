"""Sources of documents: folders, sites, wikis, mailboxes, and files of other machines."""
